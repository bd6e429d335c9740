#pragma once

#include <span>
#include <string>
#include <string_view>

#include "serve/http/message.h"

namespace encdec::serve {

// Throws HttpError, 403, if a page of another site has sent the request. Browsers report that in Sec-Fetch-Site. If
// this header is missing, Origin is compared with Host. Origins in `allowed` are accepted; "*" accepts all.
void check_origin(const HttpRequest& head, std::span<const std::string> allowed);

// Returns the entry of `allowed` that accepts `origin`; empty if there is none.
std::string_view allowed_origin(std::string_view origin, std::span<const std::string> allowed);

// Throws HttpError, 403, unless Host is a name of this machine's loopback interface or one of `allowed`. This prevents
// DNS rebinding: another site could let its own name point to this server, and its pages could then read the answers.
void check_host(const HttpRequest& head, std::span<const std::string> allowed);

}  // namespace encdec::serve
