#include "encdec/models/speech/transcript/compression_ratio.h"

#include <zlib.h>

#include <new>
#include <vector>

namespace encdec {

double compression_ratio(std::string_view text) {
  constexpr int kLevel = 6;  // zlib's default
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> compressed(size);
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  if (compress2(compressed.data(), &size, bytes, static_cast<uLong>(text.size()), kLevel) != Z_OK)
    throw std::bad_alloc();
  return static_cast<double>(text.size()) / static_cast<double>(size);
}

}  // namespace encdec
