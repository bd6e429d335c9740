#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace encdec {

// A range of bytes of a text.
struct PatternMatch {
  std::size_t begin;
  std::size_t end;
};

// A callback that receives matches in order, one per call.
using MatchSink = std::function<void(const PatternMatch& match)>;

// A function that calls `take` with every match in `text`, in order. Matches do not overlap. They can be empty, but not
// at the end of another match. `text` must be valid UTF-8. Throws TokenizerError if the search exceeds its step limit.
// Thread-safe.
using Pattern = std::function<void(std::string_view text, const MatchSink& take)>;

// Returns a pattern that matches `text` literally.
Pattern literal_pattern(std::string text);
// Returns a pattern for a regular expression in the part of Oniguruma's syntax that tokenizers use. PCRE2 does the
// matching. Throws TokenizerError, beginning with `name`, if `expression` is not valid, or if PCRE2 would read it
// differently from Oniguruma.
Pattern regex_pattern(const std::string& expression, const std::string& name);

}  // namespace encdec
