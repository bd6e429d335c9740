// Calls parse_ctranslate2() with arbitrary bytes. If they load, reads every byte of every tensor.
#include <cstdint>

#include "encdec/models/checkpoint/ctranslate2.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "tests/fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const char* const file = "model.bin";
  reads_or_refuses(file, [&] {
    const auto model = parse_ctranslate2({std::as_bytes(std::span(data, size)), nullptr, file});
    read_all(*model.weights);
    reads_or_refuses<WeightError>(file, [&] { token_settings(model, std::nullopt); });
    for (const auto& [name, tensor] : model.weights->tensors()) {
      reads_or_refuses<WeightError>(file, [&, &key = name] { scalar(*model.weights, key); });
      reads_or_refuses<WeightError>(file, [&, &key = name] { text(*model.weights, key); });
    }
  });
  return 0;
}
