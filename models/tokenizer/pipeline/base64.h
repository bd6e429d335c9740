#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace encdec {

// The bytes that base64 text (RFC 4648, with padding) stands for; nullopt if it is something else.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace encdec
