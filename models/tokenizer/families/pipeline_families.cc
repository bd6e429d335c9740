#include "encdec/models/tokenizer/families/pipeline_families.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/refuse.h"

namespace encdec {
namespace {

using family_parts::Separator;
using Json = nlohmann::json;

// In the comments below, "frame" is the sequence of a text X and the special tokens around it.

// Adds the frame of BERT, [CLS] X [SEP], whose pairs are as `separator` says.
PipelineParts make_word_pieces(PipelineSource& source, Separator separator) {
  const std::string unknown = source.token("unk_token", "[UNK]");
  if (!source.file.vocabulary->id(unknown)) {
    refuse<TokenizerError>(source.name, "the vocabulary has no unk_token '{}'", printable(unknown));
  }
  Json document = Json::parse(R"({
    "model": {"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    "normalizer": {"type": "BertNormalizer", "clean_text": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}
  })");
  document["model"]["unk_token"] = unknown;
  Json& normalizer = document["normalizer"];
  normalizer["handle_chinese_chars"] = source.config.boolean("tokenize_chinese_chars").value_or(true);
  normalizer["lowercase"] = source.config.boolean("do_lower_case").value_or(true);
  if (const auto strips_accents = source.config.boolean("strip_accents")) normalizer["strip_accents"] = *strips_accents;
  return family_parts::framed(source, std::move(document), "cls_token", "sep_token", separator);
}

// Frame: [CLS] X [SEP].
PipelineParts make_bert(PipelineSource& source) {
  return make_word_pieces(source, Separator::once_then_second_segment);
}

// Frame: <s> X </s>.
PipelineParts make_mpnet(PipelineSource& source) {
  source.describe("mask_token", {.strip_left = true, .special = true});
  return make_word_pieces(source, Separator::twice);
}

// Frame: <s> X </s>.
PipelineParts make_roberta(PipelineSource& source) {
  const bool adds_space = source.config.boolean("add_prefix_space").value_or(false);
  const bool trims = source.config.boolean("trim_offsets").value_or(true);
  PipelineParts parts = family_parts::framed(source, family_parts::byte_level_document(source, false), "cls_token",
                                             "sep_token", Separator::twice);
  if (trims) parts.affixes.trim = adds_space ? Affixes::Trim::unless_added : Affixes::Trim::all;
  return parts;
}

// Puts the tokens of tokenizer.json's post-processor around texts; without a tokenizer.json those that
// tokenizer_config.json asks for (add_bos_token, add_eos_token); else none.
PipelineParts generic_frame(PipelineSource& source, Json document) {
  if (source.is_tokenizer_json()) {
    document["post_processor"] = source.file.rest->value().value("post_processor", Json());
    return family_parts::load(source, std::move(document));
  }
  const auto asked = [&](const char* key, const char* name) {
    return source.config.boolean(key).value_or(false) ? name : "";
  };
  return family_parts::framed(source, std::move(document), asked("add_bos_token", "bos_token"),
                              asked("add_eos_token", "eos_token"));
}

PipelineParts make_gpt2(PipelineSource& source) {
  return generic_frame(source, family_parts::byte_level_document(source, false));
}

PipelineParts make_blenderbot(PipelineSource& source) {
  source.describe("mask_token", {.strip_left = true, .normalized = false});
  return generic_frame(source, family_parts::byte_level_document(source, true));
}

std::vector<PipelineFamily> all_families() {
  using native_files::read_byte_pairs, native_files::read_lines;
  const NamedTokens fairseq = family_parts::fairseq_tokens(), bert = family_parts::bert_tokens();
  const NamedTokens gpt2 = {
      {"unk_token", "<|endoftext|>"}, {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}};
  NamedTokens mpnet = fairseq;
  mpnet["unk_token"] = "[UNK]";
  using Files = std::vector<const char*>;
  const Files lines = {"vocab.txt"};
  const Files byte_pairs = {"vocab.json", "merges.txt"};
  std::vector<PipelineFamily> families = {
      {"BertTokenizer", lines, read_lines, "WordPiece", bert, make_bert},
      {"DistilBertTokenizer", lines, read_lines, "WordPiece", bert, make_bert},
      {"ElectraTokenizer", lines, read_lines, "WordPiece", bert, make_bert},
      {"MPNetTokenizer", lines, read_lines, "WordPiece", mpnet, make_mpnet},
      {"RobertaTokenizer", byte_pairs, read_byte_pairs, "BPE", fairseq, make_roberta},
      {"BartTokenizer", byte_pairs, read_byte_pairs, "BPE", fairseq, make_roberta},
      {"GPT2Tokenizer", byte_pairs, read_byte_pairs, "BPE", gpt2, make_gpt2},
      {"BlenderbotTokenizer", byte_pairs, read_byte_pairs, "BPE", fairseq, make_blenderbot},
      {"WhisperTokenizer", byte_pairs, read_byte_pairs, "BPE", gpt2, make_whisper},
  };
  std::ranges::move(sentencepiece_families(), std::back_inserter(families));
  return families;
}

}  // namespace

const PipelineFamily* find_pipeline_family(std::string_view tokenizer_class) {
  static const std::vector<PipelineFamily> families = all_families();
  const auto found = std::ranges::find(families, tokenizer_class, &PipelineFamily::tokenizer_class);
  return found != families.end() ? &*found : nullptr;
}

}  // namespace encdec
