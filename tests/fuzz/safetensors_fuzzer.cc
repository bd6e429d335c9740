// parse_safetensors over any bytes; what loads is read to the last byte.
#include <cstdint>
#include <vector>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "tests/fuzz/require.h"

namespace encdec {
namespace {

void read_all(const Tensor& tensor) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < tensor.bytes(); ++i) sum += std::to_integer<unsigned>(tensor.raw()[i]);
  require(sum <= 255 * tensor.bytes(), "bytes can be read");
  if (!is_weight_type(tensor.type()) || tensor.elements() == 0) return;
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  copy_as_float(tensor, 0, tensor.elements(), values.data());
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const auto bytes = std::as_bytes(std::span(data, size));
  WeightStore store("store");
  try {
    parse_safetensors(bytes, nullptr, "model.safetensors", store);
  } catch (const FileError& error) {
    require_good_message(error.what(), "model.safetensors");
    require(store.tensors().empty(), "a file that is refused adds nothing");
    return 0;
  }
  std::size_t header_bytes = 0;
  for (std::size_t i = 0; i < 8; ++i) header_bytes |= std::to_integer<std::size_t>(bytes[i]) << (8 * i);
  std::size_t tensor_bytes = 0;
  for (const auto& [name, tensor] : store.tensors()) {
    require(!tensor.empty() && !tensor.shape().is_symbolic(), "a tensor has a place and sizes");
    require(tensor.raw() >= bytes.data() + 8 + header_bytes, "data lies behind the header");
    require(tensor.raw() + tensor.bytes() <= bytes.data() + size, "data lies inside the file");
    tensor_bytes += tensor.bytes();
    read_all(tensor);
  }
  require(8 + header_bytes + tensor_bytes == size, "tensors fill the file");
  return 0;
}
