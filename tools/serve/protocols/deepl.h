#pragma once

#include <encdec/models/translation/translation_job.h>

#include "serve/parameters.h"

namespace encdec::serve {

// Reads the fields that DeepL's requests for texts and documents share: languages, formality and glossaries. Throws
// HttpError, 400, for a field that would change the translation and is not supported.
TranslateOptions read_deepl_options(const Call& call, const Parameters& parameters);

}  // namespace encdec::serve
