#pragma once

#include <span>
#include <string>
#include <string_view>

#include "serve/http/message.h"

namespace encdec::serve {

// Returns KEY of "Authorization: Bearer KEY", "Authorization: DeepL-Auth-Key KEY", "X-API-Key: KEY" or
// "Sec-WebSocket-Protocol: openai-insecure-api-key.KEY". Returns an empty text if there is no such header.
std::string_view key_in(const HttpRequest& head);

// Returns whether `given` is one of `keys`. The time depends on lengths only, not on bytes.
bool is_among(std::string_view given, std::span<const std::string> keys);

// Returns a name for the client of a request: its key if that is one of `keys`, else its address.
std::string_view client_of(std::string_view key, std::string_view peer, std::span<const std::string> keys);

}  // namespace encdec::serve
