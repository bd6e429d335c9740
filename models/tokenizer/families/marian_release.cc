#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/marian_files.h"
#include "encdec/models/checkpoint/unpacked_file.h"
#include "encdec/models/checkpoint/yaml.h"
#include "encdec/models/tokenizer/families/plain_tokenizer.h"
#include "encdec/models/tokenizer/families/slow_families.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Returns the subwords by id. Throws TokenizerError if the ids have gaps. The error message begins with `name`.
PieceList list_of(const Vocabulary& vocabulary, const std::string& name) {
  std::vector<std::string> pieces(vocabulary.size());
  for (const Vocabulary::Entry& entry : vocabulary.entries()) {
    const auto id = static_cast<std::size_t>(entry.id);
    if (id >= pieces.size()) {
      refuse<TokenizerError>(name, "'{}' has the id {}, expected one below the number of pieces, {}",
                             printable(entry.piece()), id, pieces.size());
    }
    pieces[id] = entry.piece();
  }
  return PieceList(std::move(pieces));
}

Vocabulary read_vocabulary(const fs::path& path) {
  if (path.extension() == ".json") return Vocabulary::read(path);
  return vocabulary_from(parse_yaml(read_text_file(path, kMaxVocabularyBytes), path.string()), path.string());
}

// Returns Marian's settings. Unlike converted checkpoints, Marian has no pad token.
TokenizerSettings release_settings() {
  auto tokens = marian_tokens();
  tokens.erase("pad_token");
  return TokenizerSettings::merge({}, std::move(tokens));
}

// Loads a tokenizer whose vocabularies are the pieces of two sentencepiece models. Both `names` may be equal.
std::unique_ptr<Tokenizer> load_sentencepiece(const fs::path& folder, const std::vector<std::string>& names) {
  const auto read = [&](const std::string& name) {
    const FileBytes file = read_unpacked(folder / name);
    return SentencePieceModel(as_text(file.bytes), file.name);
  };
  const auto pieces = [&](const SentencePieceModel& model, const std::string& name) {
    Vocabulary vocabulary;
    for (std::int32_t id = 0; model.piece(id) != nullptr; ++id) {
      vocabulary.add(*model.piece(id), id, (folder / name).string());
    }
    return vocabulary;
  };
  MarianParts parts{.source_model = read(names[0]), .target_model = read(names[1]), .allows_language_codes = false};
  parts.vocabulary = pieces(parts.source_model, names[0]);
  if (names[1] != names[0]) parts.target_vocabulary = pieces(parts.target_model, names[1]);
  parts.settings = release_settings();
  parts.settings.split_special_tokens = true;  // Marian does not match special tokens in a text
  return marian_tokenizer(std::move(parts), folder.string());
}

}  // namespace

Vocabulary vocabulary_from(const Json& map, const std::string& name) {
  if (!map.is_object()) {
    refuse<TokenizerError>(name, "{}, expected an object of pieces and ids", map.type_name());
  }
  Vocabulary vocabulary;
  for (const auto& [piece, id] : map.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= std::uint64_t{kMaxTokenIds}) {
      refuse<TokenizerError>(name, "'{}' is {}, expected an id from 0 to {}", printable(piece),
                             id.is_number() ? printable(id.dump()) : id.type_name(), kMaxTokenIds - 1);
    }
    vocabulary.add(piece, id.get<std::int32_t>(), name);
  }
  return vocabulary;
}

std::unique_ptr<Tokenizer> load_marian_release(const fs::path& folder) {
  const std::vector<std::string> names = MarianFiles(folder).vocabularies();
  if (without_packing(names[0]).ends_with(".spm")) return load_sentencepiece(folder, names);
  Vocabulary source = read_vocabulary(folder / names[0]);
  std::optional<Vocabulary> target;
  if (names[1] != names[0]) target = read_vocabulary(folder / names[1]);
  // Without sentencepiece models, a text must consist of subwords separated by spaces.
  if (!has_files(folder, {"source.spm", "target.spm"})) {
    std::optional<PieceList> target_list;
    if (target) target_list = list_of(*target, (folder / names[1]).string());
    return plain_tokenizer(list_of(source, (folder / names[0]).string()), std::move(target_list),
                           {.add_source_end = true});
  }
  return marian_tokenizer({.source_model = SentencePieceModel::read(folder / "source.spm"),
                           .target_model = SentencePieceModel::read(folder / "target.spm"),
                           .vocabulary = std::move(source),
                           .target_vocabulary = std::move(target),
                           .settings = release_settings()},
                          folder.string());
}

}  // namespace encdec
