#pragma once

#include <string_view>

namespace encdec::serve {

// The OpenAPI 3.1 description of all addresses, which GET /openapi.json returns.
inline constexpr std::string_view kOpenApi =
#include "serve_openapi.json.inc"
    ;

}  // namespace encdec::serve
