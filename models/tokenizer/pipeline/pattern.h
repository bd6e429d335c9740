#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace encdec {

struct PatternMatch {  // bytes of the text
  std::size_t begin;
  std::size_t end;
};

// A callback that receives matches in order, one per call.
using MatchSink = std::function<void(const PatternMatch& match)>;

// A function that calls `take` with every match in valid UTF-8, in order. Matches do not overlap. A match can be empty,
// but not at the end of the previous match. Throws TokenizerError if the search exceeds its step limit. Thread-safe.
using Pattern = std::function<void(std::string_view text, const MatchSink& take)>;

Pattern literal_pattern(std::string text);
// Returns a pattern that PCRE2 matches, for a regular expression in the subset of Oniguruma's syntax that published
// tokenizers use. Throws TokenizerError, beginning with `name`, if `expression` is invalid or means something else in
// PCRE2.
Pattern regex_pattern(const std::string& expression, const std::string& name);

}  // namespace encdec
