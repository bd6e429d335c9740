#include "encdec/models/tokenizer/pipeline/piece_model.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {

std::int32_t VocabularyModel::unknown_id(std::string_view token) const {
  if (const auto id = vocabulary_.id(token)) return *id;
  throw TokenizerError(fmt::format("{}: the unknown token '{}' is not in the vocabulary", name_, printable(token)));
}

}  // namespace encdec
