#include "encdec/models/checkpoint/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace encdec {
namespace {

// zlib's state for one raw stream.
class Inflater {
 public:
  Inflater() {
    // Negative bits of the window: no header and no checksum of zlib's own.
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool fills(std::span<const std::byte> input, std::span<std::byte> output) {
    constexpr std::size_t kMaxStep = std::numeric_limits<uInt>::max();
    std::byte past_end{};  // one more byte than expected would be written here
    int result = Z_OK;
    while (result == Z_OK) {
      const std::span<std::byte> room = output.empty() ? std::span(&past_end, 1) : output;
      const std::size_t in = std::min(input.size(), kMaxStep), out = std::min(room.size(), kMaxStep);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
      stream_.avail_in = static_cast<uInt>(in);
      stream_.next_out = reinterpret_cast<Bytef*>(room.data());
      stream_.avail_out = static_cast<uInt>(out);
      result = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t written = out - stream_.avail_out;
      if (output.empty() && written > 0) return false;
      input = input.subspan(in - stream_.avail_in);
      output = output.subspan(written);
    }
    return result == Z_STREAM_END && input.empty() && output.empty();
  }

 private:
  z_stream stream_{};
};

}  // namespace

bool inflate_exactly(std::span<const std::byte> input, std::span<std::byte> output) {
  return Inflater().fills(input, output);
}

std::uint32_t zip_checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace encdec
