// Calls the readers of Marian's binary files, models and lexical shortlists, with arbitrary bytes.
#include <cstdint>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/marian_binary.h"
#include "encdec/models/generation/lexical_shortlist.h"
#include "tests/fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const FileBytes file{std::as_bytes(std::span(data, size)), nullptr, "x.bin"};
  try {
    read_all(*parse_marian_binary(file));
  } catch (const Error& error) {
    require_good_message(error.what(), "x.bin");
  }
  try {
    const LexicalShortlist shortlist(file, {.source = 4, .target = 30, .is_shared = true});
    shortlist.tokens_for({0, 3, 2});
  } catch (const FileError& error) {
    require_good_message(error.what(), "x.bin");
  }
  return 0;
}
