#include "encdec/models/checkpoint/language_pair.h"

#include <nlohmann/json.hpp>
#include <regex>

#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/marian_files.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// Returns the languages that a JSON file of the folder has under two keys.
std::optional<LanguagePair> pair_in(const fs::path& file, const char* source_key, const char* target_key) {
  if (!file_exists(file)) return std::nullopt;
  const JsonObject object = read_json_object(file);
  const auto source = object.string(source_key), target = object.string(target_key);
  if (!source || !target || source->empty() || target->empty()) return std::nullopt;
  return LanguagePair{*source, *target};
}

// Returns the languages of translateLocally's model_info.json: {"srcTags": {"de": "German"}, "trgTag": "en"}.
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

// Returns the languages in the name of a student's model.
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
  if (auto pair = pair_in(folder / "tokenizer_config.json", "source_lang", "target_lang")) return pair;
  if (auto pair = pair_in(folder / "metadata.json", "sourceLanguage", "targetLanguage")) return pair;
  if (auto pair = pair_of_tags(folder / "model_info.json")) return pair;
  static const std::regex kOpus("opus-mt-(?:tc-)?(?:big-|base-)?([a-z]{2,3})-([a-z]{2,3})");
  static const std::regex kStudent("([a-z]{2,3}(?:[-_]han[st])?)[-_]([a-z]{2,3}(?:[-_]han[st])?)");
  fs::path place = (fs::absolute(folder) / "").lexically_normal().parent_path();
  if (place.parent_path().filename() == "snapshots") place = place.parent_path().parent_path();  // models--OWNER--NAME
  std::string name = place.filename().string();
  if (const std::size_t owner = name.rfind("--"); owner != name.npos) name.erase(0, owner + 2);
  std::smatch match;
  if (std::regex_match(name, match, kOpus)) return LanguagePair{match[1], match[2]};
  if (file_exists(folder / "config.json") || !fs::is_directory(folder)) return std::nullopt;
  const auto model = MarianFiles(folder).model();
  if (!model) return std::nullopt;
  if (auto pair = pair_in_name(model->filename().string())) return pair;
  if (std::regex_match(name, match, kStudent)) return LanguagePair{match[1], match[2]};
  return std::nullopt;
}

}  // namespace encdec
