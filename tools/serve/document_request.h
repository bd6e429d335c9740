#pragma once

#include <encdec/models/translation/documents/document.h>

#include <string>

#include "serve/downloads.h"
#include "serve/parameters.h"

namespace encdec::serve {

// The file of a request that is to be translated.
struct DocumentRequest {
  std::string name;  // "letter.html"
  Document document;
};

// Reads the field `file` of a multipart form, and counts its memory for `upload`. Throws HttpError: 400 for no file, a
// name without a known extension, and a file that does not follow its format; 413, 429 and 456 as Downloads does.
DocumentRequest read_document(const Call& call, const Parameters& parameters, const std::string& target,
                              Downloads::Upload& upload);

// Returns the name of a translated file: "letter_fr.html".
std::string translated_name(const std::string& name, const std::string& target);

// Returns a text as a part of a path, with percent signs for other characters than letters, digits, '-', '.' and '_'.
std::string percent_encoded(std::string_view text);

// Returns an answer with a file, which browsers save under its name.
HttpResponse file_response(Downloads::File file);

}  // namespace encdec::serve
