#pragma once

#include <string_view>

namespace encdec::serve {

// The page at "/": one file of HTML that asks this server and nobody else.
inline constexpr std::string_view kPage =
#include "serve_page.html.inc"
    ;

}  // namespace encdec::serve
