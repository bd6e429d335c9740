#pragma once

#include <string_view>

namespace encdec::serve {

// The HTML page that GET / returns. It sends requests to this server only.
inline constexpr std::string_view kPage =
#include "serve_page.html.inc"
    ;

}  // namespace encdec::serve
