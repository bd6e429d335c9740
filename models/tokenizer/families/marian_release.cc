#include "encdec/models/tokenizer/families/marian_release.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/families/marian_tokenizer.h"
#include "encdec/models/tokenizer/families/plain_tokenizer.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kDecoder = "decoder.yml";

// The source's, then the target's.
std::vector<std::string> vocabulary_names(const fs::path& folder, const Json& decoder) {
  const auto fail = [&](std::string_view found) {
    throw TokenizerError(fmt::format("{}: vocabs is {}, expected the names of two files in this folder",
                                     (folder / kDecoder).string(), found));
  };
  if (!decoder.is_object() || !decoder.contains("vocabs")) fail("missing");
  const Json& vocabularies = decoder["vocabs"];
  if (!vocabularies.is_array()) fail(vocabularies.type_name());
  if (vocabularies.size() != 2) fail(fmt::format("a list of {}", vocabularies.size()));
  std::vector<std::string> names;
  for (const Json& name : vocabularies) {
    if (!name.is_string()) fail(fmt::format("a list with a {}", name.type_name()));
    names.push_back(name.get<std::string>());
    if (!is_bare_name(names.back())) fail(fmt::format("a list with '{}'", printable(names.back())));
  }
  return names;
}

// Ids from 0 on, without gaps.
PieceList list_of(const Vocabulary& vocabulary, const std::string& name) {
  for (const auto& [piece, id] : vocabulary.ids()) {
    if (static_cast<std::size_t>(id) < vocabulary.size()) continue;
    throw TokenizerError(fmt::format("{}: '{}' has the id {}, expected one below the number of pieces, {}", name,
                                     printable(piece), id, vocabulary.size()));
  }
  return PieceList::from(vocabulary);
}

Vocabulary read_vocabulary(const fs::path& path, const YamlParser& parse_yaml) {
  if (path.extension() == ".json") return Vocabulary::read(path);
  return vocabulary_from(parse_yaml(read_text_file(path, kMaxVocabularyBytes), path.string()), path.string());
}

}  // namespace

Vocabulary vocabulary_from(const Json& map, const std::string& name) {
  if (!map.is_object()) {
    throw TokenizerError(fmt::format("{}: {}, expected an object of pieces and ids", name, map.type_name()));
  }
  Vocabulary vocabulary;
  for (const auto& [piece, id] : map.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= std::uint64_t{kMaxTokenIds}) {
      throw TokenizerError(fmt::format("{}: '{}' is {}, expected an id from 0 to {}", name, printable(piece),
                                       id.is_number() ? printable(id.dump()) : id.type_name(), kMaxTokenIds - 1));
    }
    vocabulary.add(piece, id.get<std::int32_t>(), name);
  }
  return vocabulary;
}

std::unique_ptr<Tokenizer> load_marian_release(const fs::path& folder, const Json& decoder,
                                               const YamlParser& parse_yaml) {
  const std::vector<std::string> names = vocabulary_names(folder, decoder);
  Vocabulary source = read_vocabulary(folder / names[0], parse_yaml);
  std::optional<Vocabulary> target;
  if (names[1] != names[0]) target = read_vocabulary(folder / names[1], parse_yaml);
  if (!has_files(folder, {"source.spm", "target.spm"})) {
    std::optional<PieceList> target_list;
    if (target) target_list = list_of(*target, (folder / names[1]).string());
    return std::make_unique<PlainTokenizer>(list_of(source, (folder / names[0]).string()), std::move(target_list),
                                            PlainTokenizer::Options{.add_source_end = true});
  }
  // The pad token of converted checkpoints is none of Marian's.
  auto tokens = MarianTokenizer::default_tokens();
  tokens.erase("pad_token");
  return std::make_unique<MarianTokenizer>(
      MarianTokenizer::Parts{.source_model = SentencePieceModel::read(folder / "source.spm"),
                             .target_model = SentencePieceModel::read(folder / "target.spm"),
                             .vocabulary = std::move(source),
                             .target_vocabulary = std::move(target),
                             .settings = TokenizerSettings::merge({}, std::move(tokens))},
      folder.string());
}

}  // namespace encdec
