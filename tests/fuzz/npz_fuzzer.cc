// Calls parse_npz() with arbitrary bytes, and with an archive whose array has these bytes.
#include <cstdint>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/npz.h"
#include "tests/fuzz/read_all.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

void parse(std::span<const std::byte> bytes) {
  reads_or_refuses("x.npz", [&] { read_all(*parse_npz({bytes, nullptr, "x.npz"})); });
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  parse(std::as_bytes(std::span(data, size)));
  const std::string archive = zip_bytes({{"x.npy", std::string(text_of(data, size))}});
  const std::vector<char> copy(archive.begin(), archive.end());  // no spare capacity: sanitizers see reads beyond it
  parse(std::as_bytes(std::span(copy)));
  return 0;
}
