#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace encdec {

// Bytes as base64 text (RFC 4648), with padding.
std::string encode_base64(std::span<const std::byte> bytes);
// The bytes that base64 text (RFC 4648, with padding) stands for; nullopt if it is something else.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace encdec
