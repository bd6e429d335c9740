#pragma once

#include <span>
#include <string>
#include <string_view>

#include "serve/http/message.h"

namespace encdec::serve {

// Throws HttpError, 403, for a request that a page of another site has made: Sec-Fetch-Site says so, or in browsers
// without it an Origin that is not the Host. `allowed` are origins that may call, "*" for all.
void check_origin(const HttpRequest& head, std::span<const std::string> allowed);

// The entry of `allowed` that lets an origin call; empty if there is none.
std::string_view allowed_origin(std::string_view origin, std::span<const std::string> allowed);

// Throws HttpError, 403, unless Host is a name of this machine's loopback interface, or one of `allowed`: a site may
// have its own name point here, and then its pages could read the answers (DNS rebinding).
void check_host(const HttpRequest& head, std::span<const std::string> allowed);

}  // namespace encdec::serve
