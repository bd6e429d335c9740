#pragma once

#include <string>

namespace encdec::serve {

// Returns the OpenAPI 3.1 description of all addresses, which GET /openapi.json returns: the file openapi.json, with
// the options of generation and transcription from their tables, and with the usual responses where it has none.
const std::string& openapi();

}  // namespace encdec::serve
