// Calls parse_pytorch() with arbitrary bytes: archives with wrong entries, and the format of torch before 1.6.
// pickle_fuzzer.cc reaches more of the code for pickles.
#include <cstdint>

#include "encdec/models/checkpoint/pytorch.h"
#include "tests/fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const FileBytes file{std::as_bytes(std::span(data, size)), nullptr, "x.bin"};
  reads_or_refuses("x.bin", [&] { read_all(*parse_pytorch(file)); });
  return 0;
}
