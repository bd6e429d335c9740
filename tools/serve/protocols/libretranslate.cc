// LibreTranslate's protocol (github.com/LibreTranslate/LibreTranslate, libretranslate/app.py, 1.9).
#include <encdec/models/tokenizer/base/lower_case.h>
#include <encdec/models/translation/text/language.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "serve/downloads.h"
#include "serve/parameters.h"
#include "serve/routes.h"
#include "serve/translation.h"

namespace encdec::serve {
namespace libretranslate {

using Json = nlohmann::ordered_json;

HttpResponse error_form(const HttpError& error, const HttpRequest& request) {
  // Clients of LibreTranslate do not expect 401.
  return plain_error(error.status() == 401 ? HttpError(403, error.what()) : error, request);
}

// Returns a language with its canonical code. LibreTranslate's codes are the same, except "zh-Hans" for our "zh", which
// canonical_language() accepts in requests.
Json language_json(const std::string& code) {
  return {{"code", code}, {"name", language_name(code)}};
}

std::string required(const Parameters& parameters, const char* name) {
  const std::string text = parameters.text(name);
  if (text.empty()) throw HttpError(400, fmt::format("Invalid request: missing {} parameter", name));
  return text;
}

asio::awaitable<void> translate_texts(Call& call) {
  const Parameters parameters(call);
  bool is_list = false;
  std::vector<std::string> texts = parameters.texts("q", is_list);
  if (texts.empty() || (!is_list && texts.front().empty()))
    throw HttpError(400, "Invalid request: missing q parameter");
  const std::string source = required(parameters, "source"), target = required(parameters, "target");
  const std::string format = parameters.text("format", "text");
  if (format != "text" && format != "html") {
    throw HttpError(400, fmt::format("'format' is '{}', expected text or html", format));
  }
  const int alternatives = parameters.integer("alternatives", 0, call.limits().alternatives).value_or(0);
  if (parameters.is_form()) {
    for (std::string& text : texts) std::erase(text, '\r');
  }
  const bool is_auto = source == "auto";
  const TranslateOptions options{.source = is_auto ? std::string() : source,
                                 .target = target,
                                 .via = parameters.text("via"),
                                 .is_html = format == "html",
                                 .alternatives = alternatives};
  const auto translations = co_await translate(call, std::move(texts), options);
  Json translated = Json::array(), detected = Json::array(), others = Json::array(), routes = Json::array();
  bool has_long_route = false;
  for (const Translation& translation : translations) {
    translated.push_back(translation.text);
    detected.push_back({{"confidence", translation.confidence}, {"language", translation.source}});
    others.push_back(translation.alternatives);
    routes.push_back(translation.route);
    has_long_route |= translation.route.size() > 2;
  }
  Json answer = {{"translatedText", is_list ? translated : translated.front()}};
  if (is_auto) answer["detectedLanguage"] = is_list ? detected : detected.front();
  if (alternatives > 0) answer["alternatives"] = is_list ? others : others.front();
  if (has_long_route) answer["route"] = is_list ? routes : routes.front();  // LibreTranslate's answers have no route
  call.respond(answer);
}

asio::awaitable<void> list_languages(Call& call) {
  const TranslationRoutes& routes = call.parts().models.routes();
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
  Json answer = Json::array();
  for (const DetectedLanguage& found : detect_languages(text, call.parts().models.routes().sources())) {
    if (found.confidence == 0 && !answer.empty()) break;
    answer.push_back({{"confidence", found.confidence}, {"language", found.language}});
  }
  call.respond(answer);
  co_return;
}

asio::awaitable<void> settings(Call& call) {
  const TranslationRoutes& routes = call.parts().models.routes();
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
                {"supportedFilesFormat", {".txt", ".html"}},
                {"language", language}});
  co_return;
}

// Translates a file and returns an address from which the client fetches the translation. It cannot be guessed.
asio::awaitable<void> translate_file(Call& call) {
  const Parameters parameters(call);
  const FormPart* file = parameters.file("file");
  if (file == nullptr || file->content.empty()) throw HttpError(400, "Invalid request: missing file parameter");
  const std::string name = lower_case(file->file_name);
  const bool is_html = name.ends_with(".html") || name.ends_with(".htm");
  if (!is_html && !name.ends_with(".txt"))
    throw HttpError(400, "Invalid request: file format not supported, expected .txt or .html");
  const std::string source = required(parameters, "source"), target = required(parameters, "target");
  std::vector<std::string> texts(1, file->content);
  const TranslateOptions options{
      .source = source == "auto" ? std::string() : source, .target = target, .is_html = is_html};
  const auto translations = co_await translate(call, std::move(texts), options);
  const std::string path = call.parts().downloads.add(translations.front().text, is_html ? ".html" : ".txt");
  // The address uses the name by which the client calls this server. A proxy in front says if that is by https.
  const Fields& headers = call.request().headers;
  const std::string_view scheme = headers["x-forwarded-proto"] == "https" ? "https" : "http", host = headers["host"];
  call.respond({{"translatedFileUrl", host.empty() ? path : fmt::format("{}://{}{}", scheme, host, path)}});
}

asio::awaitable<void> download_file(Call& call) {
  const auto fetch = call.request().method == "HEAD" ? Downloads::Fetch::keep : Downloads::Fetch::remove;
  const std::optional<std::string> content = call.parts().downloads.find(call.path_word(0), fetch);
  if (!content) throw HttpError(404, "no such file; a translated file can be fetched once, and only for some time");
  const bool is_html = call.path_word(0).ends_with(".html");
  call.answer({.body = *content,
               .content_type = is_html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
               .headers = {{"Content-Disposition", "attachment"}, {"X-Content-Type-Options", "nosniff"}}});
  co_return;
}

constexpr std::array kRoutes = {
    Route{"POST", "/translate", &translate_texts, &error_form, Route::Key::in_body},
    Route{"GET", "/languages", &list_languages, &error_form, Route::Key::none},
    Route{"POST", "/detect", &detect, &error_form, Route::Key::in_body},
    Route{"GET", "/frontend/settings", &settings, &error_form, Route::Key::none},
    Route{"POST", "/translate_file", &translate_file, &error_form, Route::Key::in_body},
    Route{"GET", "/download_file/*", &download_file, &error_form, Route::Key::none},
};

}  // namespace libretranslate

std::span<const Route> libretranslate_routes() {
  return libretranslate::kRoutes;
}

}  // namespace encdec::serve
