// Builds a tokenizer from a tokenizer.json and encodes a text. The input is the tokenizer.json, optionally followed by
// a line that begins with "TEXT:" and the text.
#include <cstdint>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"
#include "tests/fuzz/use_tokenizer.h"

namespace encdec {
namespace {

const char* const kFile = "tokenizer.json";
constexpr std::string_view kMark = "\nTEXT:";
constexpr std::string_view kText = "Hello, w\u00F6rld!  <s> \u4E2D\u6587 e\u0301 1234 <mask>don't \U0001F600\n";

void use(const Tokenizer& tokenizer, std::string_view text) {
  try {
    use_tokenizer(tokenizer, text, TextSide::source);
    tokenizer.encode(text, {.max_length = 5});
  } catch (const TokenizerError&) {  // no unknown token, text that grows too long, pattern over its step limit
  }
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  std::string_view json = text_of(data, size);
  std::string_view text = kText;
  if (const std::size_t mark = json.rfind(kMark); mark != std::string_view::npos) {
    text = json.substr(mark + kMark.size());
    json = json.substr(0, mark);
  }
  reads_or_refuses<Error>(kFile, [&] {
    PipelineParts parts = read_pipeline(TokenizerJsonFile::parse(json, kFile));
    parts.affixes = {};  // may contain ids that the vocabulary lacks
    const auto tokenizer = pipeline_tokenizer(std::move(parts), kFile);
    use(*tokenizer, text);
    use(*tokenizer, kText);
  });
  return 0;
}
