#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <span>

#include "encdec/engine/base/cancellation.h"

namespace encdec {

// A zlib decompressor for one raw deflate stream.
class Inflater {
 public:
  Inflater() {
    // Negative window bits: the stream has no zlib header and no checksum.
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Decompresses the beginning of `input` into `output`. Returns whether that filled `output`.
  bool fills_front(std::span<const std::byte> input, std::span<std::byte> output) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = static_cast<uInt>(std::min(input.size(), kMaxStep));
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(std::min(output.size(), kMaxStep));
    const int result = inflate(&stream_, Z_SYNC_FLUSH);
    return (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) && stream_.avail_out == 0;
  }

  // Decompresses `input` into `output`. Returns whether `input` is exactly one stream and its content has exactly the
  // size of `output`.
  bool fills(std::span<const std::byte> input, std::span<std::byte> output) {
    std::byte past_end{};  // receives a byte if the content is longer than `output`
    int result = Z_OK;
    while (result == Z_OK) {
      check_cancelled();
      const std::span<std::byte> room = output.empty() ? std::span(&past_end, 1) : output;
      const std::size_t in = std::min(input.size(), kPieceBytes), out = std::min(room.size(), kPieceBytes);
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
  static constexpr std::size_t kMaxStep = std::numeric_limits<uInt>::max();
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // between two checks for cancellation

  z_stream stream_{};
};

}  // namespace encdec
