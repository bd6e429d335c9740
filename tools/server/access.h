#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace encdec::serve {

// Returns KEY of "Authorization: Bearer KEY", "Authorization: DeepL-Auth-Key KEY", "X-API-Key: KEY" or
// "Sec-WebSocket-Protocol: openai-insecure-api-key.KEY". Returns an empty text if there is no such header.
std::string_view key_in(const HttpRequest& head);

// Returns whether `given` is one of `keys`. The time depends on lengths only, not on bytes.
bool is_among(std::string_view given, std::span<const std::string> keys);

// Returns a name for the client of a request: its key if that is one of `keys`, else its address.
std::string_view client_of(std::string_view key, std::string_view peer, std::span<const std::string> keys);

// Throws HttpError, 403, if a page of another site has sent the request. Browsers report that in Sec-Fetch-Site. If
// this header is missing, Origin is compared with Host. Origins in `allowed` are accepted; "*" accepts all.
void check_origin(const HttpRequest& head, std::span<const std::string> allowed);

// Returns the entry of `allowed` that accepts `origin`; empty if there is none.
std::string_view allowed_origin(std::string_view origin, std::span<const std::string> allowed);

// Throws HttpError, 403, unless Host is a name of this machine's loopback interface or one of `allowed`. This prevents
// DNS rebinding: another site could let its own name point to this server, and its pages could then read the answers.
void check_host(const HttpRequest& head, std::span<const std::string> allowed);

}  // namespace encdec::serve
