#include "encdec/models/tokenizer/pipeline/word_level.h"

#include <fmt/format.h>

#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {

WordLevel::WordLevel(Options options, std::string name)
    : VocabularyModel(std::move(options.vocabulary), std::move(name)),
      unknown_token_(std::move(options.unknown_token)) {}

void WordLevel::tokenize(std::string_view word, std::vector<std::int32_t>& ids) const {
  auto found = vocabulary().id(word);
  if (!found) found = vocabulary().id(unknown_token_);
  if (!found) {
    throw TokenizerError(fmt::format("{}: neither '{}' nor the unknown token '{}' is in the vocabulary", name(),
                                     printable(word), printable(unknown_token_)));
  }
  ids.push_back(*found);
}

}  // namespace encdec
