#include "encdec/models/generation/generation_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "encdec/engine/base/refuse.h"

namespace encdec {
namespace {

using Options = GenerateOptions;
using Kind = UnsupportedSetting::Kind;
using Setting = OptionRow<Options>;

constexpr int kDefaultNewTokens = 20;                  // as in transformers
constexpr double kMinFactor = 1e-6, kMaxFactor = 1e6;  // limits within which scaled scores are finite
constexpr double kMaxExponent = 100;                   // length and coverage penalties are from -100 to 100
constexpr double kMaxInt = std::numeric_limits<int>::max();
constexpr OptionRange kShare{0, 1}, kTopK{0, kMaxInt}, kFactor{kMinFactor, kMaxFactor}, kLengthFactor{0, kMaxFactor},
    kExponent{-kMaxExponent, kMaxExponent}, kCount{0, kMaxTokenCount}, kLength{1, kMaxTokenCount},
    kSequences{1, kMaxSequences}, kToken{.is_token = true};
constexpr std::string_view kDrafts = "Speculative decoding";

// Unsupported settings of transformers' GenerationConfig. The neutral value of a number is its default in transformers.
constexpr UnsupportedSetting kUnsupported[] = {
    {"num_beam_groups", Kind::number, 1},
    {"diversity_penalty", Kind::number, 0},
    {"penalty_alpha", Kind::number, 0},
    {"typical_p", Kind::number, 1},
    {"epsilon_cutoff", Kind::number, 0},
    {"eta_cutoff", Kind::number, 0},
    {"min_p", Kind::number, 0},
    {"guidance_scale", Kind::number, 1},
    {"renormalize_logits", Kind::flag},
    {"remove_invalid_values", Kind::flag},
    {"token_healing", Kind::flag},
    {"sequence_bias", Kind::anything},
    {"watermarking_config", Kind::anything},
    {"constraints", Kind::anything},
    {"stop_strings", Kind::anything},
    {"max_time", Kind::anything},
    {"top_h", Kind::anything},
    {"forced_decoder_ids", Kind::anything},
};

// Reports, and groups of options in the help, use the order of these rows.
constexpr Setting kSettings[] = {
    Setting("num_beams", kOption<&Options::num_beams>, kSequences, "Search", "N",
            "Number of beams; 1 for greedy search", {.neutral = 1, .command_names = "--num-beams,--beam-size"}),
    Setting("num_return_sequences", kOption<&Options::num_return_sequences>, kSequences, "Search", "N",
            "Hypotheses to write for each source, best first; more than one needs --json", {.neutral = 1}),
    Setting("length_penalty", kOption<&Options::length_penalty>, kExponent, "Search", "X",
            "Beam search divides scores by length^X; a larger X favours longer texts", {.neutral = 1}),
    Setting(
        "early_stopping", kOption<&Options::early_stopping>, {}, "Search", "true|false|never",
        "When beam search stops: as soon as enough beams have ended (true), when a better one is unlikely (false), or "
        "when a better one is impossible (never)",
        {.neutral = 0}),
    Setting("coverage_penalty", kOption<&Options::coverage_penalty>, kExponent, "Search", "X",
            "Lowers the beam search score of texts that leave out parts of the source; 0 for none",
            {.neutral = 0, .only_in_calls = true}),
    Setting("do_sample", kOption<&Options::do_sample>, {}, "Sampling", "true|false",
            "Draw tokens by their probability; true if no value is given", {.neutral = 0}),
    Setting("temperature", kOption<&Options::temperature>, kFactor, "Sampling", "X",
            "Divides logits before drawing: below 1 favours likely tokens, above 1 unlikely ones", {.neutral = 1}),
    Setting("top_k", kOption<&Options::top_k>, kTopK, "Sampling", "K", "Draw from the K likeliest tokens; 0 for all",
            {.neutral = 50}),
    Setting("top_p", kOption<&Options::top_p>, kShare, "Sampling", "P",
            "Draw from the likeliest tokens whose probabilities sum to P", {.neutral = 1}),
    Setting("seed", kOption<&Options::seed>, {}, "Sampling", "N",
            "Random seed; the same seed and source give the same text in any batch",
            {.neutral = 0, .only_in_calls = true}),
    Setting("repetition_penalty", kOption<&Options::repetition_penalty>, kFactor, "Repetition", "X",
            "Above 1 makes already generated tokens less likely", {.neutral = 1}),
    Setting("no_repeat_ngram_size", kOption<&Options::no_repeat_ngram_size>, kCount, "Repetition", "N",
            "Never generate the same N tokens in a row twice; 0 to allow it", {.neutral = 0}),
    Setting("encoder_repetition_penalty", kOption<&Options::encoder_repetition_penalty>, kFactor, "Repetition", "X",
            "Above 1 makes tokens of the source likelier", {.neutral = 1}),
    Setting("encoder_no_repeat_ngram_size", kOption<&Options::encoder_no_repeat_ngram_size>, kCount, "Repetition", "N",
            "Never copy N tokens in a row from the source; 0 to allow it", {.neutral = 0}),
    Setting("max_length", kOption<&Options::max_length>, kLength),
    Setting("max_new_tokens", kOption<&Options::max_new_tokens>, kLength, "Length", "N",
            "Maximum number of tokens to generate for one source"),
    Setting("max_length_factor", kOption<&Options::max_length_factor>, kLengthFactor, "Length", "X",
            "Maximum number of tokens to generate for each token of the source, plus 4; 0 for no such limit",
            {.neutral = 0, .only_in_calls = true}),
    Setting("min_length", kOption<&Options::min_length>, kCount, {}, {}, {}, {.neutral = 0}),
    Setting("min_new_tokens", kOption<&Options::min_new_tokens>, kCount, "Length", "N",
            "Minimum number of tokens to generate for one source"),
    Setting("exponential_decay_length_penalty", kOption<&Options::exponential_decay_length_penalty>, kFactor, "Length",
            "START,FACTOR", "After START tokens, each further token makes the end more likely, by FACTOR"),
    Setting("prompt_lookup_num_tokens", kOption<&Options::prompt_lookup_num_tokens>, kCount, kDrafts, "N",
            "Draft up to N tokens from an earlier occurrence of the last ones, in the source or the result; 0 for none",
            {.neutral = 0}),
    Setting("decoder_start_token", kOption<&Options::decoder_start_token>, kToken, {}, {}, {},
            {.other_names = {"decoder_start_token_id"}}),
    Setting("eos_tokens", kOption<&Options::eos_tokens>, kToken, {}, {}, {}, {.other_names = {"eos_token_id"}}),
    Setting("forced_bos_token", kOption<&Options::forced_bos_token>, kToken, "Tokens", "TOKEN",
            "First token to generate: as the vocabulary spells it, or its id",
            {.other_names = {"forced_bos_token_id"}}),
    Setting("forced_eos_tokens", kOption<&Options::forced_eos_tokens>, kToken, "Tokens", "TOKEN",
            "Last token of a text that reaches the length limit",
            {.other_names = {"forced_eos_token_id"}, .command_names = "--forced-eos-token"}),
    Setting("suppress_tokens", kOption<&Options::suppress_tokens>, kToken, "Tokens", "IDS",
            "Token ids never to generate, separated by spaces"),
    Setting("begin_suppress_tokens", kOption<&Options::begin_suppress_tokens>, kToken, "Tokens", "IDS",
            "Token ids not to generate as the first token"),
    Setting("bad_words", kOption<&Options::bad_words>, kToken, "Tokens", "FILE",
            "Phrases never to generate, one per line: text, or token ids with --token-ids",
            {.other_names = {"bad_words_ids"}, .command_names = "--bad-words-file"}),
    Setting("force_words", kOption<&Options::force_words>, kToken, "Tokens", "FILE",
            "Phrases that every text must contain, in the format of --bad-words-file; needs --num-beams above 1",
            {.other_names = {"force_words_ids"}, .command_names = "--force-words-file"}),
    Setting("shortlist", kOption<&Options::shortlist>, kToken, "Tokens", "FILE",
            "The only tokens to generate, one per line: as the vocabulary spells them, or ids with --token-ids",
            {.only_in_calls = true, .command_names = "--shortlist-file"}),
    Setting("lexical_shortlist", kOption<&Options::lexical_shortlist>, {}, "Tokens", "true|false",
            "Generate only tokens that the model's lexical shortlist allows; true if no value is given",
            {.neutral = 1, .only_in_calls = true}),
};

constexpr Setting kCallOptions[] = {
    Setting("source_lang", kOption<&Options::source_lang>, {}, {}, "LANG",
            "Language of the sources, as the checkpoint spells it: eng_Latn, en_XX, en", {.other_names = {"src_lang"}}),
    Setting("target_lang", kOption<&Options::target_lang>, {}, {}, "LANG",
            "Language of the targets, spelled the same way", {.other_names = {"tgt_lang"}}),
    Setting("max_source_tokens", kOption<&Options::max_source_tokens>, {0, kMaxTokenCount}, {}, "N",
            "Maximum tokens of a source; 0: the model's limit, or 16384 if it has none"),
    Setting("long_sources", kOption<&Options::long_sources>, {}, {}, "error|truncate",
            "Refuse a source with more tokens, or truncate it"),
    Setting("draft_source", kOption<&Options::draft_source>, {}, kDrafts, {},
            "Use the source as draft of the result, for correction and normalisation"),
    Setting("num_assistant_tokens", kOption<&Options::num_assistant_tokens>, {1, kMaxSequences}, kDrafts, "K|auto",
            "Draft tokens per step; auto, the default, adapts to how many were accepted"),
    Setting("top_log_probs", kOption<&Options::top_log_probs>, {0, kMaxSequences}, {}, "K",
            "Also write the K most likely tokens at each position; needs --json"),
};
static_assert(kMaxSourceTokens == 16384, "a help text names it");

// Throws ConfigError for a value, or an element of a list, that is outside the setting's range.
template <class T>
void check(const Setting& row, const T& value, Dim vocabulary) {
  const OptionRange& range = row.range;
  if constexpr (std::is_same_v<T, std::vector<TokenIds>>) {
    for (const TokenIds& phrase : value) {
      if (phrase.empty()) refuse<ConfigError>(row.name, "a phrase without tokens, expected at least one");
      check(row, phrase, vocabulary);
    }
  } else if constexpr (std::is_same_v<T, TokenIds>) {
    for (const std::int32_t token : value) check(row, token, vocabulary);
  } else if constexpr (std::is_same_v<T, ExponentialDecay>) {
    if (value.start >= 0 && value.start <= kMaxTokenCount && range.has(value.factor)) return;
    throw ConfigError(
        fmt::format("{} is {}, {}, expected a start of at least 0 and a factor above 0, at most {} and {}", row.name,
                    value.start, value.factor, kMaxTokenCount, range.max));
  } else if constexpr (std::is_same_v<T, int> || std::is_same_v<T, float>) {
    // The range of a number is in the table. The range of a token id is the vocabulary.
    if (!range.is_token) {
      if (range.has(value)) return;
      throw ConfigError(fmt::format("{} is {}, expected {} to {}", row.name, value, range.min, range.max));
    }
    if (value >= 0 && static_cast<Dim>(value) < vocabulary) return;
    refuse<ConfigError>(row.name, "token id {}, expected 0 to {}", value, vocabulary - 1);
  }
}

}  // namespace

std::span<const Setting> generation_settings() {
  return kSettings;
}

std::span<const UnsupportedSetting> unsupported_settings() {
  return kUnsupported;
}

std::span<const Setting> generation_call_options() {
  return kCallOptions;
}

GenerateOptions operator|(const GenerateOptions& defaults, const GenerateOptions& options) {
  GenerateOptions all = options;
  for (const Setting& row : kSettings) {
    row.visit(all, [&]<class T>(std::optional<T>& value) {
      if (!value) value = row.get<std::optional<T>>(defaults);
    });
  }
  return all;
}

GenerateOptions with_neutral_values(const GenerateOptions& options) {
  GenerateOptions neutral;
  for (const Setting& row : kSettings) {
    // Set numbers, flags and enums to the table's value, and lists to empty lists. Leave an ExponentialDecay unset.
    row.visit(neutral, [&row]<class T>(std::optional<T>& value) {
      if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        if (row.neutral) value = static_cast<T>(*row.neutral);
      } else if constexpr (!std::is_same_v<T, ExponentialDecay>) {
        value.emplace();
      }
    });
  }
  return neutral | options;
}

void check_settings(const GenerateOptions& options, Dim vocabulary) {
  for (const Setting& row : kSettings) {
    row.visit(options, [&]<class T>(const std::optional<T>& value) {
      if (value) check(row, *value, vocabulary);
    });
  }
}

int new_token_limit(const GenerateOptions& options, std::size_t prompt_length) {
  if (options.max_new_tokens) return std::max(1, *options.max_new_tokens);
  if (options.max_length) return std::max(1, *options.max_length - static_cast<int>(prompt_length));
  return kDefaultNewTokens;
}

}  // namespace encdec
