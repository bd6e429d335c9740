#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/families/language_codes.h"
#include "encdec/models/tokenizer/families/pipeline_families.h"
#include "encdec/models/tokenizer/pipeline/added_vocabulary.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

namespace encdec::family_parts {
namespace {

// Returns the token, marked as special if it is a named token, whatever its own entry says.
AddedToken pipeline_token(AddedToken token, const TokenizerSettings& settings) {
  const auto is_same = [&](const auto& named) { return named.second == token.content; };
  token.special = token.special || std::any_of(settings.named_tokens.begin(), settings.named_tokens.end(), is_same);
  return token;
}

// Returns the id of the settings' token with the name `key`. Throws TokenizerError if there is none.
std::int32_t named_id(const PipelineSource& source, const AddedVocabulary& added, const PieceModel& model,
                      std::string_view key) {
  const std::string token = source.token(key);
  if (token.empty()) refuse<TokenizerError>(source.name, "there is no {}", key);
  if (const auto id = added.id(token, model)) return *id;
  refuse<TokenizerError>(source.name, "the vocabulary has no {} '{}'", key, printable(token));
}

// Adds the tokens and decoding options of source.settings to `parts`.
void apply_settings(const PipelineSource& source, PipelineParts& parts) {
  const TokenizerSettings& settings = source.settings;
  std::set<std::string> known;
  for (const auto& token : parts.added_tokens) known.insert(token.content);
  for (const auto& [id, token] : settings.added_tokens) {
    parts.added_tokens.push_back(pipeline_token(token, settings));
    known.insert(token.content);
  }
  for (const std::string& content : settings.special_tokens) {
    if (known.contains(content)) continue;
    parts.added_tokens.push_back(pipeline_token(settings.described({.content = content, .special = true}), settings));
  }
  parts.truncation_side = settings.truncation_side.value_or(TruncationSide::right);
  parts.has_segments = settings.has_segments;
  parts.split_special_tokens = settings.split_special_tokens;
  parts.unknown_token = source.token("unk_token");
  // transformers does not clean up after BPE, because that would remove spaces of the original text.
  const bool always =
      source.config.boolean("clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output").value_or(false);
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

PipelineParts load(PipelineSource& source) {
  PipelineParts parts = read_pipeline(std::move(source.file));
  apply_settings(source, parts);
  return parts;
}

PipelineParts load(PipelineSource& source, nlohmann::json document) {
  source.file.rest.emplace(std::move(document), source.name);
  return load(source);
}

PipelineParts framed(PipelineSource& source, nlohmann::json document, std::string_view before, std::string_view after,
                     Separator separator) {
  PipelineParts parts = load(source, std::move(document));
  const AddedVocabulary added(parts.added_tokens, *parts.model, parts.normalizer, source.name);
  Affixes& affixes = parts.affixes;
  if (!before.empty()) affixes.before = {named_id(source, added, *parts.model, before)};
  if (!after.empty()) affixes.after = {named_id(source, added, *parts.model, after)};
  PairAffixes pair{.before = affixes.before, .between = affixes.after, .after = affixes.after};
  if (separator == Separator::twice) pair.between.insert(pair.between.end(), pair.after.begin(), pair.after.end());
  if (separator == Separator::once_then_second_segment) pair.first_segment = pair.between.size();
  affixes.pair = std::move(pair);
  return parts;
}

PipelineParts with_languages(PipelineSource& source, nlohmann::json document, const Languages& languages) {
  PipelineParts parts = load(source, std::move(document));
  const AddedVocabulary added(parts.added_tokens, *parts.model, parts.normalizer, source.name);
  parts.affixes = {.after = {named_id(source, added, *parts.model, "eos_token")}};
  std::vector<PipelineParts::Language>& known = parts.languages;
  for (const std::string& name : languages.names) {
    if (const auto id = added.id(name, *parts.model)) known.push_back({name, *id});
  }
  std::ranges::stable_sort(known, {}, &PipelineParts::Language::token);
  parts.language_affixes = [known, end = parts.affixes, is_first = languages.is_first, file = source.name,
                            default_source = source.settings.source_language.value_or(languages.source),
                            default_target = source.settings.target_language.value_or("")](const EncodeOptions& options,
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

nlohmann::json byte_level_document(const PipelineSource& source, bool adds_prefix_space) {
  const bool prefix = source.config.boolean("add_prefix_space").value_or(adds_prefix_space);
  return {{"model", {{"type", "BPE"}}},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", prefix}}},
          {"decoder", {{"type", "ByteLevel"}}}};
}

}  // namespace encdec::family_parts
