#pragma once

#include <string_view>

namespace encdec::serve {

// The description of all addresses (OpenAPI 3.1).
inline constexpr std::string_view kOpenApi =
#include "serve_openapi.json.inc"
    ;

}  // namespace encdec::serve
