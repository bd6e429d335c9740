#include "translation/server/translation_server.h"

#include <encdec/engine/base/error.h>
#include <encdec/translation/text/language.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "slice.h"

namespace encdec::serve {
namespace {

// Returns the model's own code for a language in any spelling; empty if the model has no such codes.
std::string code_of(const std::string& language, const char* name, const std::map<std::string, std::string>& known) {
  const auto found = known.find(canonical_language(language));
  if (found != known.end()) return found->second;
  const bool has_codes = std::ranges::any_of(known, [](const auto& entry) { return !entry.second.empty(); });
  if (!language.empty() && !known.empty() && !has_codes) {
    std::vector<std::string> codes;
    for (const auto& [code, own] : known) codes.push_back(code);
    throw HttpError(400, fmt::format("'{}' is '{}', expected one of {}", name, language, fmt::join(codes, ", ")));
  }
  return language;
}

// Lists the pairs of languages that can be translated, each with the languages and models on the way.
asio::awaitable<void> list_routes(Call& call) {
  const TranslationRoutes& ways = call.slice<TranslationServer>().ways;
  std::vector<std::string> routes;
  for (const std::string& source : ways.sources()) {
    for (const std::string& target : ways.targets(source)) {
      const std::vector<RouteStep> route = ways.find(source, target);
      nlohmann::ordered_json names = nlohmann::ordered_json::array();
      for (const RouteStep& step : route) names.push_back(call.parts().models.all()[step.model]->name());
      routes.push_back(
          to_text({{"source", source}, {"target", target}, {"route", languages_of(route)}, {"models", names}}));
    }
  }
  call.respond_list(R"({"routes":[)", std::move(routes), "]}");
  co_return;
}

constexpr Route kRoutes[] = {{"GET", "/v1/routes", &list_routes, &plain_error}};

class TranslationSlice final : public TranslationServer {
 public:
  std::vector<ServeOption> options() override {
    return {{"--languages", &languages_,
             "Languages that a model translates from and to, if its files do not name them: opus=en:fr, t5=en:de,fr",
             "NAME=FROM:TO"},
            {"--max-sentences", &max_sentences},
            {"--max-alternatives", &max_alternatives}};
  }

  void check(const ServeSettings& settings) override {
    for (const std::string& text : languages_) {
      const std::size_t equals = std::min(text.find('='), text.size());
      const std::string name = text.substr(0, equals);
      if (std::ranges::count(settings.models, name, &ModelSource::name) == 0 || equals == text.size()) {
        throw ConfigError(fmt::format("--languages: '{}', expected NAME=en:fr with the name of a model", text));
      }
      languages_of_[name] = text.substr(equals + 1);
    }
  }

  std::vector<Route> routes() const override { return joined({libretranslate_routes(), deepl_routes(), kRoutes}); }

  void load(const ServeSettings& settings) override { downloads.emplace(settings.limits.requests); }

  // A model that transcribes has no languages here, although its tokenizer has tokens for languages.
  void add(const ServedModel& model, Metrics& /*metrics*/) override {
    const std::string& given = languages_of_[model.name()];
    ModelLanguages languages;
    if (model.model().config().source_kind() == SourceKind::tokens) {
      languages = given.empty() ? ModelLanguages::of(model.model(), model.folder()) : ModelLanguages::parse(given);
    } else if (!given.empty()) {
      throw ConfigError(fmt::format(
          "--languages: model '{}' transcribes recordings, expected one that translates texts", model.name()));
    }
    if (translates_sentences(model.model()) && languages.sources.empty()) {
      spdlog::warn("{}: its languages are unknown, so it is not used for translation; see --languages", model.name());
    }
    translators.push_back(model.model());
    ways.add(std::move(languages));
  }

  void adjust(const ServedModel& model, GenerateOptions& options) const override {
    const ModelLanguages& languages = ways.languages(model.number());
    options.source_lang = code_of(options.source_lang, "source_lang", languages.sources);
    options.target_lang = code_of(options.target_lang, "target_lang", languages.targets);
  }

  void describe(const ServedModel& model, Json& entry, Json& /*type*/) const override {
    const ModelLanguages& languages = ways.languages(model.number());
    if (languages.targets.empty()) return;
    for (const auto& [key, codes] : {std::pair{"sources", &languages.sources}, {"targets", &languages.targets}}) {
      Json& list = entry["languages"][key] = Json::array();
      for (const auto& [code, own] : *codes) list.push_back(code);
    }
  }

 private:
  std::vector<std::string> languages_;               // "NAME=en:fr"
  std::map<std::string, std::string> languages_of_;  // the same by name
};

}  // namespace

std::unique_ptr<ServerSlice> translation_server_slice() {
  return std::make_unique<TranslationSlice>();
}

}  // namespace encdec::serve
