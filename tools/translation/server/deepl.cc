// DeepL's protocol, version 2: texts and languages (github.com/DeepLcom/openapi).
#include <encdec/models/tokenizer/base/utf8.h>
#include <encdec/translation/text/language.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "server/parameters.h"
#include "translation/server/translation_server.h"

namespace encdec::serve {
namespace deepl {

using Json = nlohmann::ordered_json;

HttpResponse error_form(const HttpError& error, const HttpRequest& /*request*/) {
  const int status = error.status() == 401 ? 403 : error.status();  // DeepL's status for a wrong key
  return {.status = status, .body = to_text({{"message", error.what()}})};
}

std::string upper_case(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// Returns the number of characters of a UTF-8 text.
std::size_t characters_of(const std::string& text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation));
}

Split split_of(const std::string& value) {
  if (value == "0") return Split::never;
  if (value == "1") return Split::sentences;
  if (value == "nonewlines") return Split::sentences_over_lines;
  throw HttpError(400, "Value for 'split_sentences' not supported, expected 0, 1 or nonewlines.");
}

// Reads the languages. Throws HttpError, 400, for unsupported fields that would change translations.
TranslateOptions read_options(const Parameters& parameters) {
  TranslateOptions options{.source = parameters.text("source_lang"), .target = parameters.text("target_lang")};
  if (options.target.empty()) throw HttpError(400, "Value for 'target_lang' not supported.");
  const std::string formality = parameters.text("formality", "default");
  if (formality == "more" || formality == "less") {
    throw HttpError(400, "'formality' is not supported for given 'target_lang'.");
  }
  for (const char* name : {"style_id", "translation_memory_id", "custom_instructions"}) {
    if (parameters.has(name)) throw HttpError(400, fmt::format("'{}' is not supported.", name));
  }
  constexpr const char* kInstead =
      "the server keeps no glossaries; POST /translate takes 'glossary', the terms themselves";
  for (const char* name : {"glossary_id", "glossary_ids"}) {
    if (parameters.has(name)) throw HttpError(400, fmt::format("'{}' is not supported: {}", name, kInstead));
  }
  return options;
}

asio::awaitable<void> translate_texts(Call& call) {
  const Parameters parameters(call);
  bool is_list = false;
  std::vector<std::string> texts = parameters.texts("text", is_list);
  if (texts.empty()) throw HttpError(400, "Parameter 'text' not specified.");
  const std::string tags = parameters.text("tag_handling");
  if (!tags.empty() && tags != "html" && tags != "xml") {
    throw HttpError(400, "Value for 'tag_handling' not supported, expected html or xml.");
  }
  // In XML, no element splits a sentence. In HTML, every element that is not inline splits the text.
  std::vector<std::string> ignored = parameters.words("ignore_tags");
  if (!ignored.empty() && tags != "xml") throw HttpError(400, "'ignore_tags' needs 'tag_handling' xml.");
  if (!parameters.words("splitting_tags").empty()) throw HttpError(400, "'splitting_tags' is not supported.");
  Json characters = Json::array();
  for (const std::string& text : texts) characters.push_back(characters_of(text));
  TranslateOptions options = read_options(parameters);
  options.is_html = tags == "html";
  options.split = split_of(parameters.text("split_sentences", "1"));
  call.keep_alive();  // DeepL's client gives up after ten seconds without a byte
  std::vector<Translation> translations;
  if (tags == "xml") {
    translations = co_await translate_xml(call, std::move(texts), std::move(ignored), options);
  } else {
    translations = co_await translate(call, std::move(texts), options);
  }
  Json list = Json::array();
  for (const Translation& translation : translations) {
    // DeepL's client fails if billed_characters is missing.
    list.push_back({{"detected_source_language", upper_case(translation.source)},
                    {"text", translation.text},
                    {"billed_characters", characters[list.size()]}});
    if (!translation.problem.empty()) list.back()["problem"] = translation.problem;
  }
  call.respond({{"translations", list}});
}

asio::awaitable<void> list_languages(Call& call) {
  const Parameters parameters(call);
  const TranslationRoutes& routes = call.slice<TranslationServer>().ways;
  const std::string type = parameters.text("type", "source");
  if (type != "source" && type != "target") {
    throw HttpError(400, "Value for 'type' not supported, expected source or target.");
  }
  Json list = Json::array();
  for (const std::string& code : type == "source" ? routes.sources() : routes.targets()) {
    Json language = {{"language", upper_case(code)}, {"name", language_name(code)}};
    if (type == "target") language["supports_formality"] = false;
    list.push_back(std::move(language));
  }
  call.respond(list);
  co_return;
}

asio::awaitable<void> usage(Call& call) {
  constexpr std::int64_t kNoLimit = 1'000'000'000'000;  // characters are not counted
  call.respond({{"character_count", 0}, {"character_limit", kNoLimit}});
  co_return;
}

constexpr std::array kRoutes = {
    Route{"POST", "/v2/translate", &translate_texts, &error_form},
    Route{"GET", "/v2/languages", &list_languages, &error_form},
    Route{"POST", "/v2/languages", &list_languages, &error_form},
    Route{"GET", "/v2/usage", &usage, &error_form},
    Route{"POST", "/v2/usage", &usage, &error_form},
};

}  // namespace deepl

std::span<const Route> deepl_routes() {
  return deepl::kRoutes;
}

}  // namespace encdec::serve
