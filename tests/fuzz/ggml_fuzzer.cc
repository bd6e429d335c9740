// Calls parse_ggml() with arbitrary bytes. If they load, reads every byte of every tensor, and builds a tokenizer of
// the vocabulary.
#include <cstdint>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/ggml.h"
#include "encdec/models/checkpoint/whisper_format.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/whisper_tokenizer.h"
#include "tests/fuzz/read_all.h"

namespace encdec {
namespace {

constexpr const char* kFile = "ggml-x.bin";

// Builds a tokenizer of the vocabulary and uses it. A tokenizer needs a text for each byte, so the missing ones are
// appended first.
void use_vocabulary(GgmlVocabulary vocabulary) {
  std::vector<bool> file_exists(256);
  for (const std::string& text : vocabulary.texts) {
    if (text.size() == 1) file_exists[static_cast<unsigned char>(text[0])] = true;
  }
  for (std::size_t byte = 0; byte < file_exists.size(); ++byte) {
    if (!file_exists[byte]) vocabulary.texts.emplace_back(1, static_cast<char>(byte));
  }
  try {
    const auto count = static_cast<std::int64_t>(vocabulary.texts.size());
    const auto tokenizer = whisper_tokenizer(
        {.texts = std::move(vocabulary.texts), .special_tokens = whisper_special_tokens(vocabulary.size - count)},
        kFile);
    const std::string text = "Hello, w\u00F6rld! don't  <|en|>a \u03A3\u03A3 1000\n";
    const auto ids = tokenizer->encode(text);
    require(tokenizer->pieces(ids, TextSide::target).size() == ids.size(), "every id that comes out has a piece");
    require(!find_invalid_utf8(tokenizer->decode(ids)), "decoded text is UTF-8");
  } catch (const TokenizerError& error) {
    require_good_message(error.what(), kFile);
  }
}

template <class Act>
void attempt(const Act& act) {
  try {
    act();
  } catch (const FileError& error) {
    require_good_message(error.what(), kFile);
  } catch (const UnsupportedModelError& error) {
    require_good_message(error.what(), kFile);
  }
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const FileBytes file{std::as_bytes(std::span(data, size)), nullptr, kFile};
  attempt([&] { read_all(*parse_ggml(file).weights); });
  attempt([&] { use_vocabulary(parse_ggml_vocabulary(file)); });
  return 0;
}
