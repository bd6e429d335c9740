#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/pattern.h"

namespace encdec {

// A regular expression of Oniguruma's syntax as one of PCRE2's, with the same matches. Throws TokenizerError, beginning
// with `name`, for what has no equal there, or is not certain to.
std::string translate_regex(std::string_view expression, const std::string& name);

// A compiled regular expression. Read-only: usable from many threads at once.
class Regex {
 public:
  // `expression` has Oniguruma's syntax. Throws TokenizerError, beginning with `name`.
  Regex(const std::string& expression, std::string name);
  ~Regex();

  std::vector<Pattern::Match> find_all(std::string_view text) const;

 private:
  struct Compiled;

  std::string name_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace encdec
