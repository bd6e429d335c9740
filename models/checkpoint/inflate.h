#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace encdec {

// Whether all of `input` is one raw deflate stream that gives exactly `output`, which it then has written. Bytes of
// `output` may have changed where it is not.
bool inflate_exactly(std::span<const std::byte> input, std::span<std::byte> output);

// The CRC-32 of zip archives.
std::uint32_t zip_checksum(std::span<const std::byte> bytes);

}  // namespace encdec
