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

// The state of a server for translation.
struct TranslationServer : ServerSlice {
  std::size_t max_sentences = 16'384;  // in the texts of one request
  std::size_t max_alternatives = 8;    // further translations of one text
  // All models, as TranslationJob takes them, and the ways between languages, by ServedModel::number().
  std::vector<Model> translators = {};
  TranslationRoutes ways = {};
  std::optional<Downloads> downloads = {};  // set by load()
};

// Throws HttpError, 413, for more sentences than a request may have.
void check_sentences(const Call& call, std::size_t count);

// Translates texts sentence by sentence, as TranslationJob does. The sentences of a batch form one request of the queue
// of its model. Throws HttpError, 400, if the languages of no model are known, and 413 for too many texts or sentences.
// `options` must be a variable: GCC 12 destroys a temporary aggregate in a co_await expression twice.
asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options);

// The same for texts with elements of XML. Elements called by one of `kept` are not translated. A text whose elements
// cannot all be placed stays as it is.
asio::awaitable<std::vector<Translation>> translate_xml(Call& call, std::vector<std::string> texts,
                                                        std::vector<std::string> kept, TranslateOptions options);

// Reads a file called `name`, and counts its memory for `upload`. Throws HttpError: 400 for a name without a known
// extension and a file that does not follow its format; 413, 429 and 456 as Downloads does.
Document read_document(const Call& call, const std::string& name, const std::string& content, const std::string& target,
                       Downloads::Upload& upload);
// Translates a document, as DocumentJob does. `problem` gets Translation::problem if a translation has one. Throws as
// translate() does.
asio::awaitable<std::string> translate_document(Call& call, Document document, TranslateOptions options,
                                                std::string& problem);

}  // namespace encdec::serve
