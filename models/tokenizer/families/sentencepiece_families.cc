#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/families/language_codes.h"
#include "encdec/models/tokenizer/families/pipeline_families.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"

namespace encdec {
namespace {

using family_parts::Separator;
using Json = nlohmann::json;

constexpr std::int32_t kFairseqUnknown = 3;  // fairseq's first tokens are <s> <pad> </s> <unk>

// Returns the "model" part of a document.
Json unigram(std::int32_t unknown_id) {
  return {{"type", "Unigram"}, {"unk_id", unknown_id}};
}

enum class Cut { words_first, at_spaces };
// Returns a document whose words begin with "▁". Cut::words_first splits at all whitespace and removes it.
// Cut::at_spaces replaces each space by "▁" and keeps other whitespace.
Json metaspace_document(Json model, Cut cut, const char* prepend_scheme = "always") {
  const Json metaspace = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", prepend_scheme}};
  Json document = {{"model", std::move(model)}, {"pre_tokenizer", metaspace}, {"decoder", metaspace}};
  if (cut == Cut::words_first) {
    document["pre_tokenizer"] = Json::parse(R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}]})");
    document["pre_tokenizer"]["pretokenizers"].push_back(metaspace);
  }
  return document;
}

// The document of a normalizer that replaces each run of spaces by one space.
const char* const kJoinSpaces = R"({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})";
// Like kJoinSpaces, but first replaces newlines by spaces.
const char* const kJoinLines = R"({"type": "Sequence", "normalizers": [
  {"type": "Replace", "pattern": {"String": "\n"}, "content": " "},
  {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
]})";

std::vector<AddedToken> special(const std::vector<std::string>& texts) {
  std::vector<AddedToken> tokens;
  for (const std::string& text : texts) tokens.push_back({.content = text, .special = true});
  return tokens;
}

// Unless the files list extra special tokens, adds sentencepiece's special pieces and the family's own tokens.
void add_extra(PipelineData& data, const std::vector<std::string>& own) {
  if (data.settings.extra_tokens) return;
  data.add_special(data.sentencepiece_tokens);
  data.add_special(special(own));
}

// Moves all pieces except the first `left_out` to the end of `to`.
void move_rest(std::vector<ScoredPiece>& pieces, std::size_t left_out, std::vector<ScoredPiece>& to) {
  const auto begin = pieces.begin() + static_cast<std::ptrdiff_t>(std::min(left_out, pieces.size()));
  std::move(begin, pieces.end(), std::back_inserter(to));
}

// Returns the pieces in fairseq's order. Replaces sentencepiece's first three pieces (<unk>, <s>, </s>) by fairseq's
// four (begin, pad, end and unknown token). Appends the languages and the mask.
std::vector<ScoredPiece> fairseq_pieces(PipelineData& data, const std::string& begin_token,
                                        const std::vector<std::string>& languages) {
  constexpr std::size_t kReplaced = 3;
  std::vector<ScoredPiece> pieces = {{begin_token, 0},
                                     {data.token("pad_token", "<pad>"), 0},
                                     {data.token("eos_token", "</s>"), 0},
                                     {data.token("unk_token", "<unk>"), 0}};
  move_rest(*data.file.pieces, kReplaced, pieces);
  for (const std::string& language : languages) pieces.push_back({language, 0});
  pieces.push_back({data.token("mask_token", "<mask>"), 0});
  return pieces;
}

// In the comments below, "frame" is a text X with the special tokens around it.

// Frame: X </s>. The sentinels have the last ids, in reverse order: <extra_id_0> has the highest id.
PipelineParts make_t5(PipelineData& data) {
  const auto count = static_cast<int>(data.config.integer("extra_ids", {0, kMaxSentinels}).value_or(100));
  std::vector<std::string> sentinels;
  for (int i = 0; i < count; ++i) sentinels.push_back(fmt::format("<extra_id_{}>", i));
  if (!data.is_tokenizer_json()) {
    for (auto token = sentinels.rbegin(); token != sentinels.rend(); ++token) {
      data.file.pieces->push_back({*token, 0});
    }
  }
  add_extra(data, sentinels);
  return family_parts::framed(data, metaspace_document(unigram(2), Cut::words_first), "", "eos_token");
}

// Frame: X </s> LANGUAGE (mBART) or LANGUAGE X </s> (mBART-50). As in transformers 5, only mBART-50 normalises texts.
template <bool is_50>
PipelineParts make_mbart(PipelineData& data) {
  const std::vector<std::string> languages = is_50 ? language_codes::mbart50() : language_codes::mbart();
  if (!data.is_tokenizer_json()) {
    data.file.pieces = fairseq_pieces(data, data.token(is_50 ? "cls_token" : "bos_token"), languages);
  }
  data.describe("mask_token", {.strip_left = true});
  add_extra(data, languages);
  Json document = metaspace_document(unigram(kFairseqUnknown), is_50 ? Cut::at_spaces : Cut::words_first);
  if (is_50) {
    document["normalizer"] = Json::parse(kJoinSpaces);
  } else {
    data.file.normalization_table.reset();
  }
  return family_parts::with_languages(data, std::move(document),
                                      {.names = languages, .source = "en_XX", .is_first = is_50});
}

// Returns the vocabulary with fairseq's four tokens moved to the front.
Vocabulary fairseq_vocabulary(const PipelineData& data) {
  std::vector<std::string_view> pieces(data.file.vocabulary->size());
  for (const auto& entry : data.file.vocabulary->entries()) {
    pieces[static_cast<std::size_t>(entry.id)] = entry.piece();
  }
  Vocabulary vocabulary;
  std::int32_t next = 0;
  for (const char* key : {"bos_token", "pad_token", "eos_token", "unk_token"}) {
    vocabulary.add(data.token(key), next++, data.name);
  }
  for (const std::string_view piece : pieces) {
    if (!vocabulary.id(piece)) vocabulary.add(piece, next++, data.name);
  }
  return vocabulary;
}

// Frame: LANGUAGE X </s>, or X </s> LANGUAGE with legacy_behaviour. The languages are added tokens: the files' list, or
// all 202. Without a tokenizer.json, the ids have the order of published checkpoints: pieces, languages, mask.
// (transformers 5.23 drops the languages in this case, or puts the mask before them.)
PipelineParts make_nllb(PipelineData& data) {
  std::vector<std::string> languages = language_codes::nllb();
  const auto& listed = data.settings.extra_tokens;
  if (listed && !listed->empty()) languages = *listed;
  if (!data.is_tokenizer_json()) {
    data.add_special(listed ? std::vector<AddedToken>() : data.sentencepiece_tokens);
    // Merges follow the order of sentencepiece's ids, so compute the merges before the ids change.
    data.file.merges = native_files::merges_of(*data.file.vocabulary);
    data.file.vocabulary = fairseq_vocabulary(data);
  }
  data.describe("mask_token", {.strip_left = true, .normalized = true, .special = true});
  // If the files do not assign ids to the languages, append them to the vocabulary.
  const bool has_order = data.is_tokenizer_json() || !data.settings.added_tokens.empty();
  data.add_special(special(languages));
  const Json model = {{"type", "BPE"}, {"unk_token", data.token("unk_token", "<unk>")}, {"fuse_unk", true}};
  Json document = metaspace_document(model, Cut::at_spaces);
  if (data.file.normalization_table) document["normalizer"] = Json::parse(kJoinSpaces);
  std::size_t id = data.file.vocabulary->size();
  for (const std::string& language : has_order ? std::vector<std::string>() : languages) {
    document["added_tokens"].push_back({{"id", id++}, {"content", language}, {"normalized", false}, {"special", true}});
  }
  const bool legacy = data.config.boolean("legacy_behaviour").value_or(false);
  return family_parts::with_languages(data, std::move(document),
                                      {.names = languages, .source = "eng_Latn", .is_first = !legacy});
}

// Frame: X </s>. The pad, end and mask tokens and <unk_2>, <unk_3>, ... come first, then sentencepiece's pieces.
PipelineParts make_pegasus(PipelineData& data) {
  const auto offset = static_cast<int>(data.config.integer("offset", {2, kMaxSentinels}).value_or(103));
  // Returns the token that masks a sentence, or nullopt if mask_token_sent is null in the config.
  const auto mask_sentence = [&](const char* otherwise) -> std::optional<std::string> {
    const auto found = data.config.value().find("mask_token_sent");
    if (found != data.config.value().end() && found->is_null()) return std::nullopt;
    return data.config.string("mask_token_sent").value_or(otherwise);
  };
  std::vector<std::string> unused;
  for (int i = 2; i < offset; ++i) unused.push_back(fmt::format("<unk_{}>", i));
  if (!data.is_tokenizer_json()) {
    std::vector<ScoredPiece> pieces = {{data.token("pad_token"), 0}, {data.token("eos_token"), 0}};
    // As in transformers, the mask tokens have other defaults here than below.
    const bool is_named = data.config.has("mask_token");
    const std::string mask = is_named ? data.token("mask_token") : "<mask_1>";
    pieces.push_back({mask, 0});
    if (const auto sentence = mask_sentence("<mask_2>"); sentence && *sentence != mask)
      pieces.push_back({*sentence, 0});
    for (const std::string& token : unused) pieces.push_back({token, -100});
    move_rest(*data.file.pieces, 2, pieces);
    data.file.pieces = std::move(pieces);
  }
  if (!data.settings.extra_tokens) {
    if (const auto sentence = mask_sentence("<mask_1>")) data.add_special(special({*sentence}));
    data.add_special(special(unused));
  }
  // As in transformers, only a piece with score 0 can be the unknown token.
  const std::vector<ScoredPiece>& pieces = *data.file.pieces;
  const auto unknown = std::ranges::find_if(
      pieces, [&](const ScoredPiece& piece) { return piece.text == data.token("unk_token") && piece.score == 0; });
  if (unknown == pieces.end()) {
    refuse<TokenizerError>(data.name, "the vocabulary has no unk_token '{}' with score 0",
                           printable(data.token("unk_token")));
  }
  const auto unknown_id = static_cast<std::int32_t>(unknown - pieces.begin());
  Json document = metaspace_document(unigram(unknown_id), Cut::at_spaces);
  document["normalizer"] = Json::parse(data.file.normalization_table ? kJoinSpaces : kJoinLines);
  return family_parts::framed(data, std::move(document), "", "eos_token");
}

// Frame: <s> X </s>.
PipelineParts make_xlm_roberta(PipelineData& data) {
  if (!data.is_tokenizer_json()) data.file.pieces = fairseq_pieces(data, data.token("bos_token"), {});
  add_extra(data, {});
  const bool prefix = data.config.boolean("add_prefix_space").value_or(true);
  Json document = metaspace_document(unigram(kFairseqUnknown), Cut::words_first, prefix ? "always" : "never");
  return family_parts::framed(data, std::move(document), "bos_token", "eos_token", Separator::twice);
}

// Frame: [CLS] X [SEP]. Pairs have a single segment. sentencepiece's normalisation table is applied last.
PipelineParts make_albert(PipelineData& data) {
  add_extra(data, {});
  const bool prefix = data.config.boolean("add_prefix_space").value_or(true);
  Json document = metaspace_document(unigram(1), Cut::words_first, prefix ? "always" : "never");
  Json steps = Json::parse(R"([{"type": "Replace", "pattern": {"String": "``"}, "content": "\""},
                               {"type": "Replace", "pattern": {"String": "''"}, "content": "\""}])");
  if (!data.config.boolean("keep_accents").value_or(false)) {
    steps.push_back({{"type", "NFKD"}});
    steps.push_back({{"type", "StripAccents"}});
  }
  if (data.config.boolean("do_lower_case").value_or(true)) steps.push_back({{"type", "Lowercase"}});
  document["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  // Apply the table after the document's normalizer. By default, the table would be applied first.
  auto table = std::exchange(data.file.normalization_table, std::nullopt);
  PipelineParts parts = family_parts::framed(data, std::move(document), "cls_token", "sep_token");
  if (table) {
    parts.normalizer = normalizers::sequence({parts.normalizer, normalizers::precompiled(*std::move(table))});
  }
  return parts;
}

// Frame: <s> X </s>. fairseq's tokens precede all sentencepiece pieces. Tokens named "...NOTUSED" never match a text.
PipelineParts make_camembert(PipelineData& data) {
  const std::string unknown = data.token("unk_token", "<unk>");
  const std::vector<std::string> unused = {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"};
  if (!data.is_tokenizer_json()) {
    std::vector<ScoredPiece> pieces = {
        {unused[0], 0}, {data.token("pad_token", "<pad>"), 0}, {unused[1], 0}, {unknown, 0}, {unused[2], -100}};
    move_rest(*data.file.pieces, 1, pieces);
    pieces.push_back({data.token("mask_token", "<mask>"), 0});
    data.file.pieces = std::move(pieces);
  }
  data.describe("mask_token", {.strip_left = true, .special = true});
  add_extra(data, {});
  // Search for the unknown token, because its index in a tokenizer.json can differ.
  const auto found = std::ranges::find(*data.file.pieces, unknown, &ScoredPiece::text);
  const bool is_known = found != data.file.pieces->end();
  const auto unknown_id = static_cast<std::int32_t>(is_known ? found - data.file.pieces->begin() : 0);
  const bool prefix = data.config.boolean("add_prefix_space").value_or(true);
  Json document = metaspace_document(unigram(unknown_id), Cut::words_first, prefix ? "always" : "never");
  return family_parts::framed(data, std::move(document), "bos_token", "eos_token", Separator::twice);
}

// Frame: [CLS] X [SEP]. Like transformers 5, ignores the normalisation table of the sentencepiece model.
PipelineParts make_deberta(PipelineData& data) {
  data.file.normalization_table.reset();
  add_extra(data, {});
  // The unknown token is the piece that has the token's text and score 0. If no piece does, use the id `unk_id`.
  const std::string unknown = data.token("unk_token");
  const auto found = std::ranges::find_if(
      *data.file.pieces, [&](const ScoredPiece& piece) { return piece.text == unknown && piece.score == 0; });
  const auto unknown_id = found != data.file.pieces->end() ? found - data.file.pieces->begin()
                                                           : data.config.integer("unk_id", {0, 1 << 30}).value_or(1);
  const bool prefix = data.config.boolean("add_prefix_space").value_or(true);
  Json document =
      metaspace_document(unigram(static_cast<std::int32_t>(unknown_id)), Cut::at_spaces, prefix ? "always" : "first");
  // Join whitespace, apply NFC, and remove whitespace at the end of the text.
  document["normalizer"] = Json::parse(R"({"type": "Sequence", "normalizers": [
    {"type": "Replace", "pattern": {"Regex": "\\s{2,}|[\\n\\r\\t]"}, "content": " "},
    {"type": "NFC"},
    {"type": "Strip", "strip_left": false, "strip_right": true}
  ]})");
  Json& normalizers = document["normalizer"]["normalizers"];
  if (data.config.boolean("do_lower_case").value_or(false)) {
    normalizers.insert(normalizers.begin(), Json({{"type", "Lowercase"}}));
  }
  if (data.config.boolean("split_by_punct").value_or(false)) {
    Json sequence =
        Json::parse(R"({"type": "Sequence", "pretokenizers": [{"type": "Punctuation", "behavior": "Isolated"}]})");
    sequence["pretokenizers"].push_back(document["pre_tokenizer"]);
    document["pre_tokenizer"] = std::move(sequence);
  }
  return family_parts::framed(data, std::move(document), "cls_token", "sep_token", Separator::once_then_second_segment);
}

}  // namespace

std::vector<PipelineFamily> sentencepiece_families() {
  using native_files::read_piece_vocabulary, native_files::read_pieces;
  const NamedTokens fairseq = family_parts::fairseq_tokens(), bert = family_parts::bert_tokens();
  const NamedTokens t5 = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};
  NamedTokens mbart50 = fairseq;
  mbart50.erase("bos_token");
  NamedTokens pegasus = t5;
  pegasus["mask_token"] = "<mask_2>";
  NamedTokens deberta = bert;
  deberta["bos_token"] = "[CLS]";
  deberta["eos_token"] = "[SEP]";
  NamedTokens albert = deberta;
  albert["unk_token"] = "<unk>";
  albert["pad_token"] = "<pad>";
  using Files = std::vector<const char*>;
  const Files spiece = {"spiece.model"};
  const Files bpe_model = {"sentencepiece.bpe.model"};  // mostly unigram models, despite the name
  return {
      {"T5Tokenizer", spiece, read_pieces, "Unigram", t5, make_t5},
      {"AlbertTokenizer", spiece, read_pieces, "Unigram", albert, make_albert},
      {"PegasusTokenizer", spiece, read_pieces, "Unigram", pegasus, make_pegasus},
      {"MBartTokenizer", bpe_model, read_pieces, "Unigram", fairseq, make_mbart<false>},
      {"MBart50Tokenizer", bpe_model, read_pieces, "Unigram", mbart50, make_mbart<true>},
      {"NllbTokenizer", bpe_model, read_piece_vocabulary, "BPE", fairseq, make_nllb},
      {"XLMRobertaTokenizer", bpe_model, read_pieces, "Unigram", fairseq, make_xlm_roberta},
      {"DebertaV2Tokenizer", {"spm.model"}, read_pieces, "Unigram", deberta, make_deberta},
      {"CamembertTokenizer", bpe_model, read_pieces, "Unigram", fairseq, make_camembert},
  };
}

}  // namespace encdec
