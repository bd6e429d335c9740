#include "serve/model_languages.h"

#include <encdec/models/checkpoint/file_names.h>
#include <encdec/models/checkpoint/json.h>
#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <utility>

#include "serve/text/language.h"

namespace encdec::serve {
namespace {

constexpr const char* kTokenizerConfig = "tokenizer_config.json";

std::pair<std::string, std::string> pair_of_files(const std::filesystem::path& folder) {
  if (file_exists((folder / kTokenizerConfig).string())) {
    const JsonObject config = read_json_object(folder / kTokenizerConfig);
    const auto source = config.string("source_lang"), target = config.string("target_lang");
    if (source && target && !source->empty() && !target->empty()) return {*source, *target};
  }
  static const std::regex kName("opus-mt-(?:tc-)?(?:big-|base-)?([a-z]{2,3})-([a-z]{2,3})");
  const std::string name = std::filesystem::absolute(folder).lexically_normal().filename().string();
  std::smatch match;
  if (std::regex_match(name, match, kName)) return {match[1], match[2]};
  return {};
}

void add_all(std::map<std::string, std::string>& languages, const std::string& codes, char separator) {
  std::size_t begin = 0;
  while (begin <= codes.size()) {
    const std::size_t end = std::min(codes.find(separator, begin), codes.size());
    if (end > begin) languages.emplace(canonical_language(codes.substr(begin, end - begin)), "");
    begin = end + 1;
  }
}

}  // namespace

ModelLanguages ModelLanguages::of(const Model& model, const std::string& folder) {
  ModelLanguages languages;
  if (!model.config().has_encoder() || !model.config().has_decoder() || model.tokenizer() == nullptr) return languages;
  const auto [source, target] = pair_of_files(folder);
  const std::vector<std::string> known = model.tokenizer()->languages();
  for (const std::string& code : known) languages.targets.emplace(canonical_language(code), code);
  // Marian models have tokens for target languages only.
  const bool is_marian = model.config().model_type == "marian";
  if (!is_marian) languages.sources = languages.targets;
  if (languages.sources.empty() && !source.empty()) add_all(languages.sources, source, '+');
  if (languages.targets.empty() && !target.empty()) add_all(languages.targets, target, '+');
  if (languages.sources.empty() || languages.targets.empty()) return {};
  return languages;
}

ModelLanguages ModelLanguages::parse(const std::string& text) {
  ModelLanguages languages;
  const std::size_t colon = std::min(text.find(':'), text.size());
  add_all(languages.sources, text.substr(0, colon), ',');
  if (colon < text.size()) add_all(languages.targets, text.substr(colon + 1), ',');
  if (languages.sources.empty() || languages.targets.empty()) {
    throw Error(fmt::format("'{}', expected languages as in en:fr or en:de,fr", text));
  }
  return languages;
}

}  // namespace encdec::serve
