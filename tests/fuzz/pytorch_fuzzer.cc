// parse_pytorch over any bytes: archives that lie about their entries, and files before torch 1.6. pickle_fuzzer.cc
// sees more of the pickles.
#include <cstdint>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/pytorch.h"
#include "tests/fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  try {
    read_all(*parse_pytorch({std::as_bytes(std::span(data, size)), nullptr, "x.bin"}));
  } catch (const FileError& error) {
    require_good_message(error.what(), "x.bin");
  }
  return 0;
}
