#include "encdec/models/translation/routes.h"

#include <algorithm>
#include <set>

namespace encdec {

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
