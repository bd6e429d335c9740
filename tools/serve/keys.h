#pragma once

#include <span>
#include <string>
#include <string_view>

#include "serve/http/message.h"

namespace encdec::serve {

// The key of "Authorization: Bearer KEY", "Authorization: DeepL-Auth-Key KEY" or "X-API-Key: KEY"; empty if there is
// none.
std::string_view key_in(const HttpRequest& head);

// Whether `given` is one of `keys`. Its time depends on the lengths only, not on the bytes.
bool is_among(std::string_view given, std::span<const std::string> keys);

// The client that a request comes from: its key where that is one of `keys`, else its address.
std::string_view client_of(const HttpRequest& head, std::span<const std::string> keys);

}  // namespace encdec::serve
