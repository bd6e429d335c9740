// Reads arbitrary bytes as a pickle, alone and in a PyTorch file with a storage of 8 floats.
#include <cstdint>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/pickle.h"
#include "encdec/models/checkpoint/pytorch.h"
#include "tests/fuzz/read_all.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

const char* const kFile = "x.bin";

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  reads_or_refuses(kFile, [&] {
    const Pickle pickle(std::as_bytes(std::span(data, size)), kFile, [](const Pickle::Global&) { return true; });
    pickle[pickle.root()];
  });

  const std::string text(text_of(data, size));
  const std::string archive = zip_bytes({{"x/data.pkl", text}, {"x/data/0", std::string(32, '\x3f')}});
  const std::vector<char> copy(archive.begin(), archive.end());  // no spare capacity: sanitizers see reads beyond it
  std::vector<std::string> notes;
  reads_or_refuses(kFile, [&] {
    const auto store = parse_pytorch({std::as_bytes(std::span(copy)), nullptr, kFile}, &notes);
    require(!store->tensors().empty(), "a file that is taken has tensors");
    for (const std::string& note : notes) require_good_message(note, kFile);
    read_all(*store);
  });
  return 0;
}
