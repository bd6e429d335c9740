#pragma once

#include <encdec/translation/documents/document.h>
#include <encdec/translation/routes.h>
#include <encdec/translation/translation_job.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "server/call.h"
#include "translation/server/downloads.h"

namespace encdec::serve {

// State of the translation endpoints.
struct TranslationServer : ServerSlice {
  std::size_t max_sentences = 16'384;  // per request
  std::size_t max_alternatives = 8;    // per text
  // All models, indexed by ServedModel::number(), and the routes between their languages.
  std::vector<Model> translators = {};
  TranslationRoutes ways = {};
  std::optional<Downloads> downloads = {};  // set by load()
};

// Throws HttpError, 413, if a request has too many sentences.
void check_sentences(const Call& call, std::size_t count);

// Translates texts as TranslationJob does. A batch of sentences is one request in its model's
// queue. Throws HttpError: 400 if no model's languages are known, 413 for too many texts or
// sentences.
// `options` must be a variable: GCC 12 destroys a temporary aggregate in a co_await expression
// twice.
asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options);

// Translates texts with XML elements. Elements with a name in `kept` are not translated. A text
// stays unchanged if its elements cannot all be placed.
asio::awaitable<std::vector<Translation>> translate_xml(Call& call, std::vector<std::string> texts,
                                                        std::vector<std::string> kept, TranslateOptions options);

// Reads a file called `name`, and reports its memory to `upload`. Throws HttpError: 400 for an
// unknown extension or a malformed file; 413, 429 and 456 as Downloads does.
Document read_document(const Call& call, const std::string& name, const std::string& content, const std::string& target,
                       Downloads::Upload& upload);
// Translates a document as DocumentJob does. Sets `problem` if a translation has one. Throws as
// translate() does.
asio::awaitable<std::string> translate_document(Call& call, Document document, TranslateOptions options,
                                                std::string& problem);

}  // namespace encdec::serve
