#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

class Regex;

// What to look for in a text: a text as it stands, or a regular expression. Read-only: usable from many threads at
// once.
class Pattern {
 public:
  struct Match {
    std::size_t begin;
    std::size_t end;
  };

  static Pattern literal(std::string text);
  // Oniguruma's syntax, as far as tokenizers use it; matched by PCRE2. Throws TokenizerError, beginning with `name`,
  // for what is not a regular expression, or one that the two would understand differently.
  static Pattern regex(const std::string& expression, const std::string& name);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // Every match in valid UTF-8, in order, none overlapping; empty matches too, but none at the end of another. Throws
  // TokenizerError if that takes too many steps.
  std::vector<Match> find_all(std::string_view text) const;

 private:
  Pattern(std::string literal, std::unique_ptr<const Regex> regex);

  std::string literal_;
  std::unique_ptr<const Regex> regex_;  // null for a literal
};

}  // namespace encdec
