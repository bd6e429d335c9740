#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace encdec {

// Bytes of a text.
struct PatternMatch {
  std::size_t begin;
  std::size_t end;
};

// Takes matches one after another.
using MatchSink = std::function<void(const PatternMatch& match)>;

// What to look for in a text: gives every match in valid UTF-8 to `take`, in order, none overlapping; empty matches
// too, but none at the end of another. Throws TokenizerError if that takes too many steps. May be used from many
// threads at once.
using Pattern = std::function<void(std::string_view text, const MatchSink& take)>;

// The text itself.
Pattern literal_pattern(std::string text);
// A regular expression: Oniguruma's syntax, as far as tokenizers use it, matched by PCRE2. Throws TokenizerError,
// beginning with `name`, for what is not a regular expression, or one that the two would understand differently.
Pattern regex_pattern(const std::string& expression, const std::string& name);

}  // namespace encdec
