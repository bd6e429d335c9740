#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

#include "encdec/engine/base/cancellation.h"

namespace encdec {

class Inflater {
 public:
  // zlib's window bits, which also select the container format.
  static constexpr int kRaw = -MAX_WBITS;       // raw deflate data
  static constexpr int kGzip = MAX_WBITS + 16;  // with gzip's header and checksum

  explicit Inflater(int window_bits) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Decompresses up to kPieceBytes from the front of `input` to the front of `output`, and removes
  // the used bytes from both. Returns zlib's result: Z_OK until the stream ends.
  int step(std::span<const std::byte>& input, std::span<std::byte>& output) {
    check_cancelled();
    const std::size_t in = std::min(input.size(), kPieceBytes), out = std::min(output.size(), kPieceBytes);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(out);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    input = input.subspan(in - stream_.avail_in);
    output = output.subspan(out - stream_.avail_out);
    return result;
  }

  // Decompresses the start of `input`. Returns true if that fills `output`.
  bool fills_front(std::span<const std::byte> input, std::span<std::byte> output) {
    int result = step(input, output);
    while (result == Z_OK && !output.empty()) result = step(input, output);
    return (result == Z_OK || result == Z_STREAM_END) && output.empty();
  }

  // Decompresses `input` into `output`. Returns true if `input` is exactly one stream and its
  // content exactly fills `output`.
  bool fills(std::span<const std::byte> input, std::span<std::byte> output) {
    int result = Z_OK;
    while (result == Z_OK) {
      std::byte past_end{};  // receives a byte if the content is longer than `output`
      std::span<std::byte> excess(&past_end, 1);
      result = step(input, output.empty() ? excess : output);
      if (excess.empty()) return false;
    }
    return result == Z_STREAM_END && input.empty() && output.empty();
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // bytes between two cancellation checks

  z_stream stream_{};
};

}  // namespace encdec
