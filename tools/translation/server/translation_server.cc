#include "translation/server/translation_server.h"

#include <encdec/engine/base/error.h>
#include <encdec/translation/document_job.h>
#include <encdec/translation/text/language.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "server/parameters.h"
#include "slice.h"

namespace encdec::serve {

// The HTTP routes of each protocol, defined in libretranslate.cc and deepl.cc.
std::span<const Route> libretranslate_routes();
std::span<const Route> deepl_routes();

namespace {

// Returns the code that the model uses for a language in any spelling; empty if the model has no codes. Returns other
// languages unchanged, but throws HttpError, 400, for a model without codes.
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

// Lists all language pairs, each with the languages and models of its route.
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
      if (std::ranges::count(settings.models, name, &ModelArgument::name) == 0 || equals == text.size()) {
        throw ConfigError(fmt::format("--languages: '{}', expected NAME=en:fr with the name of a model", text));
      }
      languages_of_[name] = text.substr(equals + 1);
    }
  }

  std::vector<Route> routes() const override { return joined({libretranslate_routes(), deepl_routes(), kRoutes}); }

  void load(const ServeSettings& settings) override { downloads.emplace(settings.limits.requests); }

  // Speech models do not translate texts, so they get no languages, although their tokenizers have language tokens.
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

  void describe(const ServedModel& model, Json& entry) const override {
    const ModelLanguages& languages = ways.languages(model.number());
    if (languages.targets.empty()) return;
    for (const auto& [key, codes] : {std::pair{"sources", &languages.sources}, {"targets", &languages.targets}}) {
      Json& list = entry["languages"][key] = Json::array();
      for (const auto& [code, own] : *codes) list.push_back(code);
    }
  }

 private:
  std::vector<std::string> languages_;               // "NAME=en:fr"
  std::map<std::string, std::string> languages_of_;  // "en:fr" by model name
};

constexpr std::size_t kMaxXmlMemory = std::size_t{128} << 20;  // memory of the XML texts of one request

// Throws HttpError, 400, if no model's languages are known.
const TranslationServer& translators_of(const Call& call) {
  const auto& server = call.slice<TranslationServer>();
  if (!server.ways.sources().empty()) return server;
  throw HttpError(400, "the languages of all models are unknown; see --languages NAME=en:fr");
}

// Runs a job. Each batch is one request in the queue of its model.
asio::awaitable<std::vector<Translation>> run(Call& call, TranslationJob& job) {
  for (std::vector<TranslationBatch> batches = job.next(); !batches.empty(); batches = job.next()) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      TranslationBatch& batch = batches[i];
      const Call::OnResult take = [&job, i](std::size_t input, GenerateResult& result) {
        job.take(i, input, std::move(result));
      };
      co_await call.generate(*call.parts().models.all()[batch.model], std::move(batch.inputs), batch.options, take);
    }
  }
  co_return job.results();
}

}  // namespace

std::unique_ptr<ServerSlice> translation_server_slice() {
  return std::make_unique<TranslationSlice>();
}

void check_sentences(const Call& call, std::size_t count) {
  const std::size_t limit = call.slice<TranslationServer>().max_sentences;
  if (count <= limit) return;
  throw HttpError(413, fmt::format("more than {} sentences, expected fewer", limit));
}

asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options) {
  call.check_inputs(texts.size());
  const TranslationServer& server = translators_of(call);
  TranslationJob job(server.translators, server.ways, std::move(options));
  for (const std::string& text : texts) {
    job.add(text);
    check_sentences(call, job.sentences());
  }
  co_return co_await run(call, job);
}

asio::awaitable<std::vector<Translation>> translate_xml(Call& call, std::vector<std::string> texts,
                                                        std::vector<std::string> kept, TranslateOptions options) {
  call.check_inputs(texts.size());
  const TranslationServer& server = translators_of(call);
  TranslationJob job(server.translators, server.ways, std::move(options));
  std::vector<Document> documents;
  std::size_t memory = 0;
  const auto count = [&memory](std::size_t bytes) {
    memory += bytes;
    if (memory > kMaxXmlMemory) throw HttpError(413, "texts that take too much memory, expected fewer elements");
  };
  for (std::string& text : texts) {
    try {
      documents.push_back(Document::parse_xml_text(std::move(text), kept, "'text'", {.on_memory = count}));
    } catch (const FileError& error) {
      throw HttpError(400, error.what());
    }
    const std::vector<Segment>& segments = documents.back().segments();
    job.add(segments.empty() ? Segment() : segments.front());
    check_sentences(call, job.sentences());
  }
  std::vector<Translation> translations = co_await run(call, job);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::size_t segments = documents[i].segments().size();
    translations[i].text = documents[i].write(std::span(&translations[i].segment, segments)).bytes;
  }
  co_return translations;
}

Document read_document(const Call& call, const std::string& name, const std::string& content, const std::string& target,
                       Downloads::Upload& upload) {
  const auto format = format_of(name);
  if (!format) {
    throw HttpError(400, fmt::format("'{}' has no known file format, expected the extension {}", shown(name),
                                     fmt::join(document_extensions(), ", ")));
  }
  // The request and the parsed document hold copies of the file.
  std::size_t bytes = 3 * call.request().body.size();
  upload.set_bytes(bytes);
  DocumentOptions options;
  options.target_language = canonical_language(target);
  options.on_memory = [&](std::size_t taken) { upload.set_bytes(bytes += taken); };
  try {
    Document document = Document::parse(content, *format, std::string(shown(name)), options);
    check_sentences(call, document.segments().size());
    return document;
  } catch (const FileError& error) {
    throw HttpError(400, error.what());
  }
}

asio::awaitable<std::string> translate_document(Call& call, Document document, TranslateOptions options,
                                                std::string& problem) {
  const TranslationServer& server = translators_of(call);
  std::size_t sentences = 0;
  DocumentJob job(std::move(document), server.translators, server.ways, std::move(options));
  while (TranslationJob* next = job.next()) {
    sentences += next->sentences();
    check_sentences(call, sentences);
    std::vector<Translation> translations = co_await run(call, *next);
    for (const Translation& each : translations) problem = std::max(problem, each.problem);
    job.take(std::move(translations));
  }
  co_return job.write().bytes;
}

}  // namespace encdec::serve
