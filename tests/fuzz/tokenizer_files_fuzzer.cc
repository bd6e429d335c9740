// Builds a Marian tokenizer from its JSON files. The input is one JSON text with all files:
//   {"vocab.json": {...}, "tokenizer_config.json": {...}, ..., "text": "..."}
#include <cstdint>
#include <string>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "tests/fuzz/json_object.h"
#include "tests/fuzz/use_tokenizer.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"

namespace encdec {
namespace {

const char* const kFile = "file.json";

SentencePieceModel small_model() {
  using namespace test;
  return {unknown_piece() + piece("▁a") + piece("a", -2) + piece("b") + piece("▁", -3), kFile};
}

void use(const Tokenizer& tokenizer, std::string_view text) {
  for (const TextSide side : {TextSide::source, TextSide::target}) {
    try {
      use_tokenizer(tokenizer, text, side);
    } catch (const TokenizerError& error) {  // the target vocabulary has no unknown token
      require_good_message(error.what(), kFile);
    } catch (const InputError&) {  // vocabularies are separate, and the target's lacks an id of the source
      require(side == TextSide::source, "targets can be decoded");
    }
  }
}

void use_all(const JsonObject& input) {
  const auto vocabulary = [&](std::string_view key) {
    const auto found = input.object(key);
    return found ? std::optional(Vocabulary::parse(found->value().dump(), kFile)) : std::nullopt;
  };
  const auto file = [&](std::string_view key) { return input.object(key).value_or(TokenizerFiles::none()); };
  const auto settings = TokenizerSettings::merge(TokenizerFiles{.tokenizer_config = file("tokenizer_config.json"),
                                                                .special_tokens_map = file("special_tokens_map.json"),
                                                                .added_tokens = file("added_tokens.json"),
                                                                .tokenizer = input.object("tokenizer.json")},
                                                 marian_tokens());
  auto source = vocabulary("vocab.json");
  if (!source) return;
  const auto tokenizer = marian_tokenizer({.source_model = small_model(),
                                           .target_model = small_model(),
                                           .vocabulary = *std::move(source),
                                           .target_vocabulary = vocabulary("target_vocab.json"),
                                           .settings = settings},
                                          kFile);
  use(*tokenizer, "ab >>fra<< </s>a <pad>");
  if (const auto text = input.string("text")) use(*tokenizer, *text);
  for (const auto& [id, token] : settings.added_tokens) use(*tokenizer, "a " + token.content + " b" + token.content);
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  encdec::fuzz_json_object(data, size, encdec::kFile, encdec::use_all);
  return 0;
}
