#pragma once

#include <encdec/models/model.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lines.h"

namespace encdec::cli {

// Tokens of the target that options and their files name. Messages begin with the option, or the file and line.
class TokenLookup {
 public:
  // Keeps a reference to the model. `form` is that of the files' lines; texts need a tokenizer.
  TokenLookup(const Model& model, LineForm form, EncodeOptions languages);

  // A token as the vocabulary spells it, a language, or an id; what may be both is an id with LineForm::token_ids.
  // Throws ConfigError.
  std::int32_t named(const std::string& option, const std::string& name) const;
  // Throws InputError for what is no id of the vocabulary, like the next.
  TokenIds ids(const std::string& option, const std::string& text) const;

  // A phrase at the beginning of a text may have other tokens than one after a space.
  enum class Forms : std::uint8_t { all, after_space };
  // A file of phrases, one a line; empty lines say nothing. Throws FileError and InputError, like the next.
  std::vector<TokenIds> phrases(const std::string& path, Forms forms) const;
  // A file of tokens, one a line, as the vocabulary spells them; with LineForm::token_ids, any number of ids a line.
  TokenIds tokens(const std::string& path) const;

 private:
  void add_phrase(const std::string& line, const std::string& position, Forms forms,
                  std::vector<TokenIds>& phrases) const;

  const Model& model_;
  LineForm form_;
  EncodeOptions languages_;
};

}  // namespace encdec::cli
