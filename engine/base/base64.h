#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace encdec {

// Encodes bytes as base64 (RFC 4648), with padding.
std::string encode_base64(std::span<const std::byte> bytes);
// Decodes base64 with padding. Returns nullopt if `text` is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace encdec
