// Calls parse_ctranslate2() with arbitrary bytes. If they load, reads every byte of every tensor.
#include <cstdint>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/ctranslate2.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "tests/fuzz/read_all.h"

namespace encdec {
namespace {

template <class Read>
void try_reading(Read read) {
  try {
    read();
  } catch (const WeightError& error) {
    require_good_message(error.what(), "model.bin");
  }
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  try {
    const auto model = parse_ctranslate2({std::as_bytes(std::span(data, size)), nullptr, "model.bin"});
    read_all(*model.weights);
    try_reading([&] { token_settings(model, std::nullopt); });
    for (const auto& [name, tensor] : model.weights->tensors()) {
      try_reading([&, &key = name] { scalar(*model.weights, key); });
      try_reading([&, &key = name] { text(*model.weights, key); });
    }
  } catch (const FileError& error) {
    require_good_message(error.what(), "model.bin");
  }
  return 0;
}
