#pragma once

#include <encdec/models/translation/translation_job.h>

#include <string>
#include <vector>

#include "serve/call.h"

namespace encdec::serve {

// Translates texts sentence by sentence, as TranslationJob does. The sentences of a batch form one request of the queue
// of its model. Throws HttpError, 400, if the languages of no model are known, and 413 for too many texts or sentences.
// `options` must be a variable: GCC 12 destroys a temporary aggregate in a co_await expression twice.
asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options);

}  // namespace encdec::serve
