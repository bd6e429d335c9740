#include "encdec/models/tokenizer/vocabulary.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxVocabularyBytes = 32u << 20;  // 256,000 pieces of large models: some 6 MB

}  // namespace

Vocabulary Vocabulary::read(const std::filesystem::path& path) {
  return parse(read_text_file(path, kMaxVocabularyBytes), path.string());
}

Vocabulary Vocabulary::parse(std::string_view json, const std::string& name) {
  const JsonObject object(parse_json(json, name), name);
  Vocabulary vocabulary;
  vocabulary.ids_.reserve(object.value().size());
  for (const auto& [piece, value] : object.value().items()) {
    const bool whole = value.is_number_integer();
    if (!whole || value.get<std::int64_t>() < 0 || value.get<std::uint64_t>() >= std::uint64_t{kMaxTokenIds}) {
      throw TokenizerError(fmt::format("{}: '{}' is {}, expected an id from 0 to {}", name, piece,
                                       value.is_number() ? value.dump() : value.type_name(), kMaxTokenIds - 1));
    }
    const auto entry = vocabulary.ids_.emplace(piece, value.get<std::int32_t>()).first;
    const auto [other, is_new] = vocabulary.pieces_.emplace(entry->second, &entry->first);
    if (!is_new) {
      throw TokenizerError(
          fmt::format("{}: '{}' and '{}' both have the id {}", name, *other->second, piece, entry->second));
    }
  }
  return vocabulary;
}

std::optional<std::int32_t> Vocabulary::id(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found != ids_.end() ? std::optional(found->second) : std::nullopt;
}

const std::string* Vocabulary::piece(std::int32_t id) const {
  const auto found = pieces_.find(id);
  return found != pieces_.end() ? found->second : nullptr;
}

}  // namespace encdec
