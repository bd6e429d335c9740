#include "encdec/models/tokenizer/families/pipeline_families.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/families/language_codes.h"
#include "encdec/models/tokenizer/pipeline/added_vocabulary.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

namespace encdec {
namespace family_parts {
namespace {

// Returns the token. Marks a named token as special, even if the token's own entry has "special": false.
AddedToken pipeline_token(AddedToken token, const TokenizerSettings& settings) {
  const auto is_same = [&](const auto& named) { return named.second == token.content; };
  token.special = token.special || std::any_of(settings.named_tokens.begin(), settings.named_tokens.end(), is_same);
  return token;
}

// Returns the id of the named token `key`. Throws TokenizerError if there is no such token.
std::int32_t named_id(const PipelineData& data, const AddedVocabulary& added, const PieceModel& model,
                      std::string_view key) {
  const std::string token = data.token(key);
  if (token.empty()) refuse<TokenizerError>(data.name, "there is no {}", key);
  if (const auto id = added.id(token, model)) return *id;
  refuse<TokenizerError>(data.name, "the vocabulary has no {} '{}'", key, printable(token));
}

// Copies the tokens and decoding options of data.settings to `parts`.
void apply_settings(const PipelineData& data, PipelineParts& parts) {
  const TokenizerSettings& settings = data.settings;
  std::set<std::string> known;  // contents of the tokens in parts.added_tokens
  for (const auto& token : parts.added_tokens) known.insert(token.content);
  for (const auto& [id, token] : settings.added_tokens) {
    parts.added_tokens.push_back(pipeline_token(token, settings));
    known.insert(token.content);
  }
  // Add the special tokens that have no entry in added_tokens, with the options that the settings describe, if any.
  for (const std::string& content : settings.special_tokens) {
    if (known.contains(content)) continue;
    parts.added_tokens.push_back(pipeline_token(settings.described({.content = content, .special = true}), settings));
  }
  parts.truncation_side = settings.truncation_side.value_or(TruncationSide::right);
  parts.has_segments = settings.has_segments;
  parts.split_special_tokens = settings.split_special_tokens;
  parts.unknown_token = data.token("unk_token");
  // transformers does not clean up the text of BPE, because this would remove original spaces.
  const bool always =
      data.config.boolean("clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output").value_or(false);
  parts.clean_up_spaces = settings.clean_up_spaces && (!parts.kind.ends_with("BPE") || always);
}

}  // namespace

NamedTokens fairseq_tokens() {
  return {{"bos_token", "<s>"},   {"eos_token", "</s>"},  {"sep_token", "</s>"},   {"cls_token", "<s>"},
          {"unk_token", "<unk>"}, {"pad_token", "<pad>"}, {"mask_token", "<mask>"}};
}

NamedTokens bert_tokens() {
  return {{"unk_token", "[UNK]"},
          {"sep_token", "[SEP]"},
          {"pad_token", "[PAD]"},
          {"cls_token", "[CLS]"},
          {"mask_token", "[MASK]"}};
}

PipelineParts load(PipelineData& data) {
  PipelineParts parts = read_pipeline(std::move(data.file));
  apply_settings(data, parts);
  return parts;
}

PipelineParts load(PipelineData& data, nlohmann::json document) {
  data.file.rest.emplace(std::move(document), data.name);
  return load(data);
}

PipelineParts framed(PipelineData& data, nlohmann::json document, std::string_view before, std::string_view after,
                     Separator separator) {
  PipelineParts parts = load(data, std::move(document));
  const AddedVocabulary added(parts.added_tokens, *parts.model, parts.normalizer, data.name);
  // Put the same special tokens around one text and around a pair, and a separator between the texts of a pair.
  Affixes& affixes = parts.affixes;
  if (!before.empty()) affixes.before = {named_id(data, added, *parts.model, before)};
  if (!after.empty()) affixes.after = {named_id(data, added, *parts.model, after)};
  PairAffixes pair{.before = affixes.before, .between = affixes.after, .after = affixes.after};
  if (separator == Separator::twice) pair.between.insert(pair.between.end(), pair.after.begin(), pair.after.end());
  if (separator == Separator::once_then_second_segment) pair.first_segment = pair.between.size();
  affixes.pair = std::move(pair);
  return parts;
}

PipelineParts with_languages(PipelineData& data, nlohmann::json document, const Languages& languages) {
  PipelineParts parts = load(data, std::move(document));
  const AddedVocabulary added(parts.added_tokens, *parts.model, parts.normalizer, data.name);
  parts.affixes = {.after = {named_id(data, added, *parts.model, "eos_token")}};
  // Keep the languages that have a token, in the order of their ids.
  std::vector<PipelineParts::Language>& known = parts.languages;
  for (const std::string& name : languages.names) {
    if (const auto id = added.id(name, *parts.model)) known.push_back({name, *id});
  }
  std::ranges::stable_sort(known, {}, &PipelineParts::Language::token);
  // Choose the language from the options, else from the settings. Without a target language, a target gets the source
  // language.
  parts.language_affixes = [known, end = parts.affixes, is_first = languages.is_first, file = data.name,
                            default_source = data.settings.source_language.value_or(languages.source),
                            default_target = data.settings.target_language.value_or("")](const EncodeOptions& options,
                                                                                         TextSide side) {
    const std::string& from = options.source_language.empty() ? default_source : options.source_language;
    const std::string& to = options.target_language.empty() ? default_target : options.target_language;
    const std::string& name = side == TextSide::source || to.empty() ? from : to;
    const auto language = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (language == known.end()) {
      std::vector<std::string> names;
      for (const auto& one : known) names.push_back(one.name);
      language_codes::refuse_unknown(name, names, file);
    }
    Affixes affixes = end;
    (is_first ? affixes.before : affixes.after).push_back(language->token);
    affixes.pair = PairAffixes{.before = affixes.before, .after = affixes.after};  // nothing between the texts
    return affixes;
  };
  return parts;
}

nlohmann::json byte_level_document(const PipelineData& data, bool adds_prefix_space) {
  const bool prefix = data.config.boolean("add_prefix_space").value_or(adds_prefix_space);
  return {{"model", {{"type", "BPE"}}},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", prefix}}},
          {"decoder", {{"type", "ByteLevel"}}}};
}

}  // namespace family_parts

namespace {

using family_parts::Separator;
using Json = nlohmann::json;

// In the comments below, "frame" is a text X with the special tokens around it.

// Builds a WordPiece model with BERT's frame, [CLS] X [SEP], and `separator` between the texts of a pair.
PipelineParts make_word_pieces(PipelineData& data, Separator separator) {
  const std::string unknown = data.token("unk_token", "[UNK]");
  if (!data.file.vocabulary->id(unknown)) {
    refuse<TokenizerError>(data.name, "the vocabulary has no unk_token '{}'", printable(unknown));
  }
  Json document = Json::parse(R"({
    "model": {"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    "normalizer": {"type": "BertNormalizer", "clean_text": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}
  })");
  document["model"]["unk_token"] = unknown;
  Json& normalizer = document["normalizer"];
  normalizer["handle_chinese_chars"] = data.config.boolean("tokenize_chinese_chars").value_or(true);
  normalizer["lowercase"] = data.config.boolean("do_lower_case").value_or(true);
  if (const auto strips_accents = data.config.boolean("strip_accents")) normalizer["strip_accents"] = *strips_accents;
  return family_parts::framed(data, std::move(document), "cls_token", "sep_token", separator);
}

// Frame: [CLS] X [SEP].
PipelineParts make_bert(PipelineData& data) {
  return make_word_pieces(data, Separator::once_then_second_segment);
}

// Frame: <s> X </s>.
PipelineParts make_mpnet(PipelineData& data) {
  data.describe("mask_token", {.strip_left = true, .special = true});
  return make_word_pieces(data, Separator::twice);
}

// Frame: <s> X </s>.
PipelineParts make_roberta(PipelineData& data) {
  const bool adds_space = data.config.boolean("add_prefix_space").value_or(false);
  const bool trims = data.config.boolean("trim_offsets").value_or(true);
  PipelineParts parts = family_parts::framed(data, family_parts::byte_level_document(data, false), "cls_token",
                                             "sep_token", Separator::twice);
  if (trims) parts.affixes.trim = adds_space ? Affixes::Trim::unless_added : Affixes::Trim::all;
  return parts;
}

// Adds the frame of tokenizer.json's post-processor. Without a tokenizer.json, adds the tokens that add_bos_token and
// add_eos_token of tokenizer_config.json request.
PipelineParts generic_frame(PipelineData& data, Json document) {
  if (data.is_tokenizer_json()) {
    document["post_processor"] = data.file.rest->value().value("post_processor", Json());
    return family_parts::load(data, std::move(document));
  }
  const auto asked = [&](const char* key, const char* name) {
    return data.config.boolean(key).value_or(false) ? name : "";
  };
  return family_parts::framed(data, std::move(document), asked("add_bos_token", "bos_token"),
                              asked("add_eos_token", "eos_token"));
}

PipelineParts make_gpt2(PipelineData& data) {
  return generic_frame(data, family_parts::byte_level_document(data, false));
}

// Builds Llama 2's model. Like transformers 5, replaces the normalizer, pre-tokenizer and decoder of tokenizer.json.
PipelineParts make_llama(PipelineData& data) {
  if (!data.is_tokenizer_json()) {
    data.file.merges = native_files::merges_of(*data.file.vocabulary);
    if (!data.settings.extra_tokens) data.add_special(data.sentencepiece_tokens);
  }
  Json document = Json::parse(R"({
    "model": {"type": "BPE", "fuse_unk": true, "byte_fallback": true},
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "split": false},
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}
    ]}
  })");
  const bool prefix = data.config.boolean("add_prefix_space").value_or(true);
  const bool legacy = data.config.boolean("legacy").value_or(false);
  document["pre_tokenizer"]["prepend_scheme"] = !prefix ? "never" : legacy ? "always" : "first";
  if (prefix) {
    document["decoder"]["decoders"].push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return generic_frame(data, std::move(document));
}

PipelineParts make_blenderbot(PipelineData& data) {
  data.describe("mask_token", {.strip_left = true, .normalized = false});
  return generic_frame(data, family_parts::byte_level_document(data, true));
}

std::vector<PipelineFamily> all_families() {
  using native_files::read_byte_pairs, native_files::read_lines, native_files::read_piece_vocabulary;
  // Define the default named tokens of the families, and the names of their files.
  const NamedTokens fairseq = family_parts::fairseq_tokens(), bert = family_parts::bert_tokens();
  const NamedTokens gpt2 = {
      {"unk_token", "<|endoftext|>"}, {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}};
  NamedTokens mpnet = fairseq;
  mpnet["unk_token"] = "[UNK]";
  const NamedTokens llama = {{"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}};
  NamedTokens gemma = {{"unk_token", "<unk>"}, {"bos_token", "<bos>"}, {"eos_token", "<eos>"}};
  gemma.insert({{"pad_token", "<pad>"}, {"mask_token", "<mask>"}});
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
      // Gemma has only a tokenizer.json, whose pipeline is used. <mask> is a named token, and therefore always special.
      {"GemmaTokenizer", {"tokenizer.json"}, nullptr, "BPE", gemma, family_parts::load},
      {"LlamaTokenizer", {"tokenizer.model"}, read_piece_vocabulary, "BPE", llama, make_llama},
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
