// Reads arbitrary bytes as a sentencepiece model file. If it loads, encodes and decodes texts that reach most of the
// code.
#include <cstdint>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"
#include "tests/fuzz/require.h"

namespace encdec {
namespace {

const char* const kFile = "source.spm";

// Returns texts with all of ASCII, words that normalisation changes, and long runs of letters that small models have.
std::vector<std::string> texts() {
  std::string ascii;
  for (char c = 0; c < 127; ++c) ascii += c;
  std::vector<std::string> result = {ascii, std::string(80, 'a'), std::string(80, 'u'), "  cat  bat  ",
                                     "<0x41><unk></s>"};
  result.emplace_back("ａｂｃ ﬁ ½ 한글 ▁▁ é e\u0301 👩\u200D👧 \u3000\u2028\u00AD\uFFFD\U0010FFFF");
  return result;
}

void use(const SentencePieceModel& model, const std::string& text) {
  reads_or_refuses<TokenizerError>(kFile, [&] {
    const std::vector<std::string> pieces = model.encode(text);
    for (const std::string& piece : pieces) {
      require(!piece.empty() && !find_invalid_utf8(piece), "pieces are UTF-8, and not empty");
    }
    require(model.encode(text) == pieces, "a second time gives the same");
    require(!find_invalid_utf8(model.decode(pieces)), "decoded text is UTF-8");
  });
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  reads_or_refuses<TokenizerError>(kFile, [&] {
    const SentencePieceModel model(std::string(text_of(data, size)), kFile);
    static const std::vector<std::string> all = texts();
    for (const std::string& text : all) use(model, text);
    std::vector<std::string> pieces;
    for (int id = 0; model.piece(id) != nullptr; ++id) pieces.push_back(*model.piece(id));
    require(!pieces.empty() && model.piece(-1) == nullptr, "pieces are numbered from zero");
    require(!find_invalid_utf8(model.decode(pieces)), "decoded text is UTF-8");
  });
  return 0;
}
