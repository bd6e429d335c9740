// LibreTranslate's protocol (github.com/LibreTranslate/LibreTranslate, libretranslate/app.py, 1.9).
#include <encdec/translation/text/language.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "server/parameters.h"
#include "translation/server/translation_server.h"

namespace encdec::serve {
namespace libretranslate {

using Json = nlohmann::ordered_json;

HttpResponse error_form(const HttpError& error, const HttpRequest& request) {
  // Clients of LibreTranslate expect neither 401 nor 456.
  const int status = error.status() == 401 ? 403 : error.status() == 456 ? 429 : error.status();
  return plain_error(HttpError(status, error.what(), error.retry_after()), request);
}

// Returns the canonical code and the name of a language. LibreTranslate uses the same codes, except "zh-Hans" for "zh".
// canonical_language() accepts both in requests.
Json language_json(const std::string& code) {
  return {{"code", code}, {"name", language_name(code)}};
}

std::string required(const Parameters& parameters, const char* name) {
  const std::string text = parameters.text(name);
  if (text.empty()) throw HttpError(400, fmt::format("Invalid request: missing {} parameter", name));
  return text;
}

// Reads the fields that are the same in requests to translate texts and files.
TranslateOptions read_options(const Parameters& parameters) {
  const std::string source = required(parameters, "source");
  TranslateOptions options{.source = source == "auto" ? std::string() : source,
                           .target = required(parameters, "target"),
                           .via = parameters.text("via")};
  if (const auto terms = parameters.object("glossary")) {
    const auto glossary = std::make_shared<Glossary>();
    for (const auto& item : terms->value().items()) glossary->add(item.key(), terms->required_string(item.key()));
    options.glossary = glossary;
  } else if (!parameters.words("glossary").empty()) {
    throw HttpError(400, "'glossary' is not a JSON object, expected terms: {\"cell\": \"Zelle\"}");
  }
  return options;
}

asio::awaitable<void> translate_texts(Call& call) {
  const Parameters parameters(call);
  bool is_list = false;
  std::vector<std::string> texts = parameters.texts("q", is_list);
  if (texts.empty() || (!is_list && texts.front().empty()))
    throw HttpError(400, "Invalid request: missing q parameter");
  TranslateOptions options = read_options(parameters);
  const std::string format = parameters.text("format", "text");
  if (format != "text" && format != "html") {
    throw HttpError(400, fmt::format("'format' is '{}', expected text or html", format));
  }
  options.is_html = format == "html";
  const auto max_alternatives = static_cast<int>(call.slice<TranslationServer>().max_alternatives);
  options.alternatives = parameters.integer("alternatives", 0, max_alternatives).value_or(0);
  if (parameters.is_form()) {
    for (std::string& text : texts) std::erase(text, '\r');
  }
  const auto translations = co_await translate(call, std::move(texts), options);
  Json translated = Json::array(), detected = Json::array(), others = Json::array(), routes = Json::array(),
       problems = Json::array();
  bool has_long_route = false, has_problem = false;
  for (const Translation& translation : translations) {
    translated.push_back(translation.text);
    detected.push_back({{"confidence", translation.confidence}, {"language", translation.source}});
    others.push_back(translation.alternatives);
    routes.push_back(translation.route);
    has_long_route |= translation.route.size() > 2;
    problems.push_back(translation.problem.empty() ? Json() : Json(translation.problem));
    has_problem |= !translation.problem.empty();
  }
  Json response = {{"translatedText", is_list ? translated : translated.front()}};
  if (options.source.empty()) response["detectedLanguage"] = is_list ? detected : detected.front();
  if (options.alternatives > 0) response["alternatives"] = is_list ? others : others.front();
  // Extensions: LibreTranslate's responses do not have these fields.
  if (has_problem) response["problem"] = is_list ? problems : problems.front();
  if (has_long_route) response["route"] = is_list ? routes : routes.front();
  call.respond(response);
}

asio::awaitable<void> list_languages(Call& call) {
  const TranslationRoutes& routes = call.slice<TranslationServer>().ways;
  Json languages = Json::array();
  for (const std::string& source : routes.sources()) {
    Json language = language_json(source);
    language["targets"] = routes.targets(source);
    languages.push_back(std::move(language));
  }
  call.respond(languages);
  co_return;
}

asio::awaitable<void> detect(Call& call) {
  const Parameters parameters(call);
  const std::string text = parameters.text("q");
  if (text.empty()) throw HttpError(400, "Invalid request: missing q parameter");
  Json response = Json::array();
  for (const DetectedLanguage& found : detect_languages(text, call.slice<TranslationServer>().ways.sources())) {
    if (found.confidence == 0 && !response.empty()) break;
    response.push_back({{"confidence", found.confidence}, {"language", found.language}});
  }
  call.respond(response);
  co_return;
}

asio::awaitable<void> settings(Call& call) {
  const TranslationRoutes& routes = call.slice<TranslationServer>().ways;
  const bool needs_key = !call.parts().settings.keys.empty();
  const auto sources = routes.sources();
  Json language = Json::object();
  if (!sources.empty()) {
    language["source"] = language_json(sources.front());
    language["target"] = language_json(routes.targets(sources.front()).front());
  }
  call.respond({{"apiKeys", needs_key},
                {"keyRequired", needs_key},
                {"charLimit", -1},
                {"frontendTimeout", 500},
                {"suggestions", false},
                {"filesTranslation", true},
                {"supportedFilesFormat", document_extensions()},
                {"language", language}});
  co_return;
}

// Translates the field `file` of a multipart form. The name of the translation is "letter_fr.html" for "letter.html".
asio::awaitable<Downloads::File> translate_upload(Call& call, Downloads::Upload& upload) {
  const Parameters parameters(call);
  TranslateOptions options = read_options(parameters);
  possible_sources(call.slice<TranslationServer>().ways, options);
  const FormPart* given = parameters.file("file");
  if (given == nullptr || given->content.empty()) throw HttpError(400, "Invalid request: missing file parameter");
  const std::string name = given->file_name.substr(given->file_name.find_last_of("/\\") + 1);
  Document document = read_document(call, name, given->content, options.target, upload);
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  Downloads::File file{.name = fmt::format("{}_{}{}", name.substr(0, dot), options.target, name.substr(dot))};
  file.content = co_await translate_document(call, std::move(document), options, file.problem);
  co_return file;
}

// Translates a file. Returns a URL of the translation, with a random id.
asio::awaitable<void> translate_file(Call& call) {
  Downloads::Upload upload(*call.slice<TranslationServer>().downloads, match_of(call.request()).client);
  Downloads::File file = co_await translate_upload(call, upload);
  const std::string path = fmt::format("/download_file/{}.{}", upload.id(), percent_encoded(file.name));
  Json response = {{"translatedFileUrl", ""}};
  if (!file.problem.empty()) response["problem"] = file.problem;
  upload.finish(std::move(file));
  // The URL has the host name of the request. A proxy may report that the client uses https.
  const Fields& headers = call.request().headers;
  const std::string_view scheme = headers["x-forwarded-proto"] == "https" ? "https" : "http", host = headers["host"];
  response["translatedFileUrl"] = host.empty() ? path : fmt::format("{}://{}{}", scheme, host, path);
  call.respond(response);
}

asio::awaitable<void> download_file(Call& call) {
  const std::string& word = match_of(call.request()).word;  // the id, a dot, and the name
  const auto fetch = call.request().method == "HEAD" ? Downloads::Fetch::keep : Downloads::Fetch::remove;
  call.send_response(
      file_response(call.slice<TranslationServer>().downloads->fetch(word.substr(0, word.find('.')), fetch)));
  co_return;
}

// Like /translate_file, but the response is the translation itself.
asio::awaitable<void> translate_file_at_once(Call& call) {
  Downloads::Upload upload(*call.slice<TranslationServer>().downloads, match_of(call.request()).client);
  Downloads::File file = co_await translate_upload(call, upload);
  call.send_response(file_response(std::move(file)));
}

constexpr std::array kRoutes = {
    Route{"POST", "/translate", &translate_texts, &error_form, Route::Key::in_body},
    Route{"GET", "/languages", &list_languages, &error_form, Route::Key::none},
    Route{"POST", "/detect", &detect, &error_form, Route::Key::in_body},
    Route{"GET", "/frontend/settings", &settings, &error_form, Route::Key::none},
    Route{"POST", "/translate_file", &translate_file, &error_form, Route::Key::in_body},
    Route{"GET", "/download_file/*", &download_file, &error_form, Route::Key::none},
    Route{"POST", "/v1/translate_file", &translate_file_at_once, &plain_error, Route::Key::in_body},
};

}  // namespace libretranslate

std::span<const Route> libretranslate_routes() {
  return libretranslate::kRoutes;
}

}  // namespace encdec::serve
