// Calls parse_word_vectors() with arbitrary bytes, for every format.
#include <cmath>
#include <cstdint>
#include <string>

#include "encdec/engine/base/error.h"
#include "inputs/word_vectors.h"
#include "tests/fuzz/read_all.h"

namespace lessons {
namespace {

void parse(std::span<const std::byte> bytes, const WordVectorOptions& options) {
  try {
    const WordVectors vectors = parse_word_vectors({bytes, nullptr, "x.vec"}, options);
    const Tensor& values = vectors.vectors();
    require(values.rows() == static_cast<Dim>(vectors.words().size()) && values.rows() > 0, "a vector for each word");
    require(vectors.duplicates() >= 0, "a number of duplicates");
    require(!options.limit || values.rows() + vectors.duplicates() <= *options.limit, "a limit is kept");
    // In a text format each number has at least two bytes.
    require(values.elements() <= static_cast<std::int64_t>(bytes.size()), "memory for what the file holds");
    for (std::int64_t i = 0; i < values.elements(); ++i)
      require(std::isfinite(values.data<float>()[i]), "finite values");
    for (std::size_t i = 0; i < vectors.words().size(); ++i) {
      require(!vectors.words()[i].empty(), "no empty words");
      require(vectors.find(vectors.words()[i]) == static_cast<std::int32_t>(i), "a word is found where it is");
    }
  } catch (const FileError& error) {
    require_good_message(error.what(), "x.vec");
  }
}

}  // namespace
}  // namespace lessons

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lessons;
  using Format = WordVectorFormat;
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const Format format : {Format::automatic, Format::word2vec_text, Format::word2vec_binary, Format::glove}) {
    parse(bytes, {.format = format});
    parse(bytes, {.format = format, .limit = 2});
  }
  return 0;
}
