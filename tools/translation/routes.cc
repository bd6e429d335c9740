#include "encdec/translation/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <set>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/language_pair.h"
#include "encdec/models/model/hub_cache.h"
#include "encdec/translation/text/language.h"

namespace encdec {
namespace {

// Adds languages for which the model has no codes.
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

std::optional<RouteStep> TranslationRoutes::step(const std::string& source, const std::string& target) const {
  const auto model = std::ranges::find_if(
      models_, [&](const ModelLanguages& languages) { return languages.translates(source, target); });
  if (model == models_.end()) return std::nullopt;
  return RouteStep{static_cast<std::size_t>(model - models_.begin()), source, target};
}

std::vector<RouteStep> TranslationRoutes::find(const std::string& source, const std::string& target,
                                               const std::string& via) const {
  const auto direct = step(source, target);
  const bool is_open = via.empty() || via == kNeverVia;
  if (direct && (is_open || via == source || via == target)) return {*direct};
  if (via == kNeverVia || source == target) return {};
  // Try pivot languages: only the requested one or, by default, English and then all others.
  std::vector<std::string> middles = {is_open ? "en" : via};
  if (is_open) {
    const std::vector<std::string> all = sources();
    middles.insert(middles.end(), all.begin(), all.end());
  }
  for (const std::string& middle : middles) {
    const auto first = step(source, middle), second = step(middle, target);
    if (first && second) return {*first, *second};
  }
  return {};
}

std::vector<std::string> TranslationRoutes::sources() const {
  std::set<std::string> sources;
  for (const ModelLanguages& languages : models_) {
    for (const auto& [code, own] : languages.sources) sources.insert(code);
  }
  return {sources.begin(), sources.end()};
}

std::vector<std::string> TranslationRoutes::targets(const std::optional<std::string>& source) const {
  std::set<std::string> all;
  for (const ModelLanguages& languages : models_) {
    for (const auto& [code, own] : languages.targets) all.insert(code);
  }
  const std::vector<std::string> from = source ? std::vector{*source} : sources();
  // Remove the languages that no route reaches.
  std::erase_if(all, [&](const std::string& target) {
    return std::ranges::all_of(from, [&](const std::string& each) { return find(each, target).empty(); });
  });
  return {all.begin(), all.end()};
}

std::vector<std::string> languages_of(const std::vector<RouteStep>& route) {
  std::vector<std::string> languages;
  for (const RouteStep& step : route) languages.push_back(step.source);
  if (!route.empty()) languages.push_back(route.back().target);
  return languages;
}

}  // namespace encdec
