// Calls the readers of Marian's binary files, models and lexical shortlists, with arbitrary bytes.
#include <cstdint>

#include "encdec/models/checkpoint/marian_binary.h"
#include "encdec/models/generation/lexical_shortlist.h"
#include "tests/fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const FileBytes file{std::as_bytes(std::span(data, size)), nullptr, "x.bin"};
  reads_or_refuses<Error>("x.bin", [&] { read_all(*parse_marian_binary(file)); });
  reads_or_refuses("x.bin", [&] {
    const LexicalShortlist shortlist(file, {.source = 4, .target = 30, .is_shared = true});
    shortlist.tokens_for({0, 3, 2});
  });
  return 0;
}
