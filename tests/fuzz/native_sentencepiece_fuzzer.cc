// Builds a family's tokenizer from a sentencepiece model file of arbitrary bytes. The first byte chooses the family.
#include <array>
#include <cstdint>
#include <string>

#include "encdec/models/tokenizer/families/pipeline_families.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "tests/fuzz/use_tokenizer.h"

namespace encdec {
namespace {

const char* const kFile = "spiece.model";

void use(const Tokenizer& tokenizer, const std::string& text, const EncodeOptions& options) {
  reads_or_refuses<TokenizerError>(kFile, [&] { use_tokenizer(tokenizer, text, TextSide::source, options); });
}

void use(const Tokenizer& tokenizer) {
  EncodeOptions options;
  const auto languages = tokenizer.languages();
  if (!languages.empty()) options = {.source_language = languages.front(), .target_language = languages.back()};
  for (const char* text :
       {"", "a b  ab\tuuu", "</s> <mask> a<unk> <extra_id_1>", "\u00E9e\u0301 \uFB01 \uAC00 \u2581\u2581 \U0001F600"}) {
    use(tokenizer, text, options);
  }
  use(tokenizer, std::string(300, 'a'), options);
}

std::unique_ptr<Tokenizer> make(std::uint8_t choice, std::string_view bytes) {
  constexpr std::array kClasses = {"T5Tokenizer",
                                   "PegasusTokenizer",
                                   "MBartTokenizer",
                                   "MBart50Tokenizer",
                                   "NllbTokenizer",
                                   "XLMRobertaTokenizer",
                                   ""};
  const std::string_view name = kClasses[choice % kClasses.size()];
  if (name.empty()) return plbart_tokenizer(bytes, {}, kFile);
  const PipelineFamily& family = *find_pipeline_family(name);
  PipelineData data{.name = kFile};
  data.settings = TokenizerSettings::merge({}, family.named_tokens);
  family.read({{kFile, std::string(bytes)}}, data);
  return pipeline_tokenizer(family.make(data), kFile);
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  if (size == 0) return 0;
  reads_or_refuses<TokenizerError>(kFile, [&] { use(*make(data[0], text_of(data + 1, size - 1))); });
  return 0;
}
