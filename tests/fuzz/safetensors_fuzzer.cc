// Calls parse_safetensors() with arbitrary bytes. If they load, reads every byte of every tensor.
#include <cstdint>

#include "encdec/models/checkpoint/safetensors.h"
#include "tests/fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const auto bytes = std::as_bytes(std::span(data, size));
  std::shared_ptr<const WeightStore> store;
  const char* const file = "model.safetensors";
  if (!reads_or_refuses(file, [&] { store = parse_safetensors({bytes, nullptr, file}); })) return 0;
  std::size_t header_bytes = 0;
  for (std::size_t i = 0; i < 8; ++i) header_bytes |= std::to_integer<std::size_t>(bytes[i]) << (8 * i);
  std::size_t tensor_bytes = 0;
  for (const auto& [name, tensor] : store->tensors()) {
    require(tensor.raw() >= bytes.data() + 8 + header_bytes, "data lies behind the header");
    require(tensor.raw() + tensor.bytes() <= bytes.data() + size, "data lies inside the file");
    tensor_bytes += tensor.bytes();
    read_all(tensor);
  }
  require(8 + header_bytes + tensor_bytes == size, "tensors fill the file");
  return 0;
}
