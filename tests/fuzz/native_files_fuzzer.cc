// Builds tokenizers from the text files of families, and of folders that have only a vocabulary. The input is one JSON
// text with all files:
//   {"vocab.json": {...}, "merges.txt": "...", "vocab.txt": "...", "vocabulary.txt": "...", "vocabulary.json": [...],
//    "vocab.yml": {...}, "tokenizer_config.json": {...}, "special_tokens_map.json": {...}, "added_tokens.json": {...},
//    "text": "..."}
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "encdec/models/tokenizer/families/pipeline_families.h"
#include "encdec/models/tokenizer/families/plain_tokenizer.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "tests/fuzz/json_object.h"
#include "tests/fuzz/use_tokenizer.h"
#include "tests/models/tokenizer/sentencepiece/sentencepiece_writer.h"

namespace encdec {
namespace {

const char* const kFile = "file.json";

void use(const Tokenizer& tokenizer, const std::string& text) {
  EncodeOptions options;
  const auto languages = tokenizer.languages();
  if (!languages.empty()) options.target_language = languages.front();
  for (const TextSide side : {TextSide::source, TextSide::target}) {
    try {
      use_tokenizer(tokenizer, text, side, side == TextSide::source ? EncodeOptions() : options);
    } catch (const TokenizerError&) {  // the text has unknown characters and there is no unknown token
    } catch (const InputError&) {      // the default language does not exist
    }
  }
}

// Runs `act`, which builds a tokenizer from the input and uses it.
template <typename Act>
void attempt(Act act) {
  reads_or_refuses<TokenizerError>(kFile, [&] { reads_or_refuses<ConfigError>(kFile, act); });
}

void use_all(const JsonObject& input) {
  const auto file = [&](std::string_view key) { return input.object(key).value_or(TokenizerFiles::none()); };
  const TokenizerFiles files{.tokenizer_config = file("tokenizer_config.json"),
                             .special_tokens_map = file("special_tokens_map.json"),
                             .added_tokens = file("added_tokens.json")};
  const std::string text = input.string("text").value_or("Hello, w\u00F6rld! don't  <mask>a</s> \u03A3\u03A3 1000\n");
  const std::string merges = input.string("merges.txt").value_or("");
  const auto vocabulary = [&] {
    const auto found = input.object("vocab.json");
    return found ? Vocabulary::parse(found->value().dump(), kFile) : Vocabulary();
  };
  for (const char* name : {"RobertaTokenizer", "GPT2Tokenizer", "BlenderbotTokenizer", "BertTokenizer"}) {
    attempt([&] {
      const PipelineFamily& family = *find_pipeline_family(name);
      PipelineData data{.name = kFile, .config = files.tokenizer_config};
      data.settings = TokenizerSettings::merge(files, family.named_tokens);
      if (family.model == "WordPiece") {
        data.file.vocabulary = native_files::parse_vocabulary_lines(input.string("vocab.txt").value_or(""), kFile);
      } else {
        data.file.vocabulary = vocabulary();
        data.file.merges = native_files::parse_merges(merges, kFile);
      }
      use(*pipeline_tokenizer(family.make(data), kFile), text);
    });
  }
  attempt([&] { use(*blenderbot_small_tokenizer(vocabulary(), merges, files, kFile), text); });
  attempt([&] { use(*byt5_tokenizer(files, kFile), text); });
  attempt([&] {
    using namespace test;
    const std::string model = unknown_piece() + piece("▁a") + piece("a", -2) + piece("b") + piece("▁", -3);
    use(*m2m100_tokenizer(SentencePieceModel(model, kFile), vocabulary(), files, kFile), text);
  });
  attempt([&] {
    const auto lines = input.string("vocabulary.txt");
    if (lines) use(*plain_tokenizer(PieceList::parse_lines(*lines, kFile), std::nullopt, {}), text);
  });
  attempt([&] {
    const auto list = input.value().find("vocabulary.json");
    if (list == input.value().end()) return;
    use(*plain_tokenizer(PieceList::parse_json(list->dump(), kFile), std::nullopt, {.add_source_end = true}), text);
  });
  attempt([&] {
    const auto map = input.value().find("vocab.yml");
    if (map != input.value().end()) vocabulary_from(*map, kFile);
  });
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  encdec::fuzz_json_object(data, size, encdec::kFile, encdec::use_all);
  return 0;
}
