#include "encdec/models/translation/model_languages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/language_pair.h"
#include "encdec/models/model/hub_cache.h"
#include "encdec/models/translation/text/language.h"

namespace encdec {
namespace {

void add_all(std::map<std::string, std::string>& languages, std::string_view codes, char separator) {
  for (const auto code : std::views::split(codes, separator)) {
    if (!code.empty()) languages.emplace(canonical_language({code.begin(), code.end()}), "");
  }
}

}  // namespace

ModelLanguages ModelLanguages::of(const Model& model, const std::string& folder) {
  ModelLanguages languages;
  if (!model.config().has_encoder() || !model.config().has_decoder() || model.tokenizer() == nullptr) return languages;
  const auto pair = language_pair_of(model_folder(folder)).value_or(LanguagePair());
  const std::vector<std::string> known = model.tokenizer()->languages();
  for (const std::string& code : known) languages.targets.emplace(canonical_language(code), code);
  // Marian models have tokens for target languages only.
  const bool is_marian = model.config().model_type == "marian";
  if (!is_marian) languages.sources = languages.targets;
  if (languages.sources.empty() && !pair.source.empty()) add_all(languages.sources, pair.source, '+');
  if (languages.targets.empty() && !pair.target.empty()) add_all(languages.targets, pair.target, '+');
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

bool translates_sentences(const Model& model) {
  constexpr std::array<std::string_view, 3> kFamilies = {"marian", "m2m_100", "mbart"};
  return std::ranges::find(kFamilies, model.config().model_type) != kFamilies.end();
}

}  // namespace encdec
