#include "encdec/models/checkpoint/language_pair.h"

#include <nlohmann/json.hpp>
#include <regex>

#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/marian_files.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// Returns the languages stored in a JSON file under two keys; nullopt if either is missing.
std::optional<LanguagePair> pair_in(const fs::path& file, const char* source_key, const char* target_key) {
  if (!file_exists(file)) return std::nullopt;
  const JsonObject object = read_json_object(file);
  const auto source = object.string(source_key), target = object.string(target_key);
  if (!source || !target || source->empty() || target->empty()) return std::nullopt;
  return LanguagePair{*source, *target};
}

// Returns the languages in a file of translateLocally, such as {"srcTags": {"de": "German"}, "trgTag": "en"}.
std::optional<LanguagePair> pair_of_tags(const fs::path& file) {
  if (!file_exists(file)) return std::nullopt;
  const JsonObject object = read_json_object(file);
  const auto sources = object.object("srcTags");
  const auto target = object.string("trgTag");
  if (!sources || sources->value().empty() || !target || target->empty()) return std::nullopt;
  LanguagePair pair{.source = {}, .target = *target};
  for (const auto& [code, name] : sources->value().items()) pair.source += (pair.source.empty() ? "" : "+") + code;
  return pair;
}

// Returns the languages in a student model's file name: "ende" means en -> de. If neither language is English, only a
// name of four letters can be split.
std::optional<LanguagePair> pair_in_name(const std::string& model) {
  static const std::regex kName("model\\.([a-z]{4,7}(?:_[a-z]+)?)\\..*");
  std::smatch match;
  if (!std::regex_match(model, match, kName)) return std::nullopt;
  const std::string pair = match[1];
  if (pair.starts_with("en")) return LanguagePair{"en", pair.substr(2)};
  if (pair.ends_with("en")) return LanguagePair{pair.substr(0, pair.size() - 2), "en"};
  if (pair.size() == 4) return LanguagePair{pair.substr(0, 2), pair.substr(2)};
  return std::nullopt;
}

}  // namespace

std::optional<LanguagePair> language_pair_of(const fs::path& folder) {
  // Look in the files first, then in the names of the folder and of the model.
  if (auto pair = pair_in(folder / "tokenizer_config.json", "source_lang", "target_lang")) return pair;
  if (auto pair = pair_in(folder / "metadata.json", "sourceLanguage", "targetLanguage")) return pair;
  if (auto pair = pair_of_tags(folder / "model_info.json")) return pair;
  static const std::regex kOpus("opus-mt-(?:tc-)?(?:big-|base-)?([a-z]{2,3})-([a-z]{2,3})");
  static const std::regex kStudent("([a-z]{2,3}(?:[-_]han[st])?)[-_]([a-z]{2,3}(?:[-_]han[st])?)");
  // Get the model's name from the path, which ends with models--OWNER--NAME/snapshots/X in the Hub's cache.
  fs::path directory = (fs::absolute(folder) / "").lexically_normal().parent_path();
  if (directory.parent_path().filename() == "snapshots") directory = directory.parent_path().parent_path();
  std::string name = directory.filename().string();
  if (const std::size_t owner = name.rfind("--"); owner != name.npos) name.erase(0, owner + 2);
  std::smatch match;
  if (std::regex_match(name, match, kOpus)) return LanguagePair{match[1], match[2]};
  // The remaining names belong to student models in Marian's own formats.
  if (file_exists(folder / "config.json") || !fs::is_directory(folder)) return std::nullopt;
  const auto model = MarianFiles(folder).model();
  if (!model) return std::nullopt;
  if (auto pair = pair_in_name(model->filename().string())) return pair;
  if (std::regex_match(name, match, kStudent)) return LanguagePair{match[1], match[2]};
  return std::nullopt;
}

}  // namespace encdec
