#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace encdec::serve {

// Returns KEY of "Authorization: Bearer KEY", "Authorization: DeepL-Auth-Key KEY", "X-API-Key: KEY" or
// "Sec-WebSocket-Protocol: openai-insecure-api-key.KEY"; empty if the request has no such header.
std::string_view key_in(const HttpRequest& head);

// Returns whether `given` is one of `keys`. The time depends only on the lengths, not on the bytes.
bool is_among(std::string_view given, std::span<const std::string> keys);

// Returns the name of a client: `key` if it is one of `keys`, else the address `peer`.
std::string_view client_of(std::string_view key, std::string_view peer, std::span<const std::string> keys);

// Throws HttpError, 403, if a page of another site sent the request. Reads Sec-Fetch-Site or, if that header is
// missing, compares Origin with Host. Accepts the origins in `allowed`; "*" accepts all.
void check_origin(const HttpRequest& head, std::span<const std::string> allowed);

// Returns the entry of `allowed` that accepts `origin`: the same origin or "*"; empty if none does.
std::string_view allowed_origin(std::string_view origin, std::span<const std::string> allowed);

// Throws HttpError, 403, unless Host is in `allowed` or names the loopback interface. Prevents DNS rebinding: a site
// that resolves its own name to this server could read responses.
void check_host(const HttpRequest& head, std::span<const std::string> allowed);

}  // namespace encdec::serve
