#include "encdec/models/generation/generation_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "encdec/engine/base/refuse.h"

namespace encdec {
namespace {

using Options = GenerateOptions;
using NotSupported = Setting::NotSupported;
using Tokens = Setting::Range::Tokens;

constexpr int kDefaultNewTokens = 20;
constexpr double kMinFactor = 1e-6, kMaxFactor = 1e6;  // limits, so that scaled scores stay finite
constexpr double kMaxExponent = 100;                   // range of length and coverage penalty: -100 to 100
constexpr double kMaxInt = std::numeric_limits<int>::max();
constexpr Setting::Range kAnything, kShare{0, 1}, kTopK{0, kMaxInt}, kFactor{kMinFactor, kMaxFactor},
    kLengthFactor{0, kMaxFactor}, kExponent{-kMaxExponent, kMaxExponent}, kCount{0, kMaxTokenCount},
    kLength{1, kMaxTokenCount}, kSequences{1, kMaxSequences},
    kKnown{.tokens = Setting::Range::Tokens::of_the_vocabulary},
    kUnwanted{.tokens = Setting::Range::Tokens::of_any_vocabulary};
constexpr std::string_view kNoKey, kDrafts = "Guesses";

// {name, member, range, neutral value, other key, group, usage, help}. Reports, and the options of a group in the help,
// have this order.
constexpr auto kSettings = std::to_array<Setting>({
    Setting{"num_beam_groups", NotSupported::number, kAnything, 1},
    Setting{"diversity_penalty", NotSupported::number, kAnything, 0},
    Setting{"penalty_alpha", NotSupported::number, kAnything, 0},
    Setting{"typical_p", NotSupported::number, kAnything, 1},
    Setting{"epsilon_cutoff", NotSupported::number, kAnything, 0},
    Setting{"eta_cutoff", NotSupported::number, kAnything, 0},
    Setting{"min_p", NotSupported::number, kAnything, 0},
    Setting{"guidance_scale", NotSupported::number, kAnything, 1},
    Setting{"renormalize_logits", NotSupported::flag},
    Setting{"remove_invalid_values", NotSupported::flag},
    Setting{"token_healing", NotSupported::flag},
    Setting{"sequence_bias", NotSupported::anything},
    Setting{"watermarking_config", NotSupported::anything},
    Setting{"constraints", NotSupported::anything},
    Setting{"stop_strings", NotSupported::anything},
    Setting{"max_time", NotSupported::anything},
    Setting{"top_h", NotSupported::anything},
    Setting{"forced_decoder_ids", NotSupported::anything},
    Setting{"num_beams", &Options::num_beams, kSequences, 1, std::nullopt, "Search", "--num-beams,--beam-size N",
            "Number of beams; 1 for greedy search"},
    Setting{"num_return_sequences", &Options::num_return_sequences, kSequences, 1, std::nullopt, "Search",
            "--num-return-sequences N",
            "Hypotheses to write for one source, best first; needs --json if more than one"},
    Setting{"length_penalty", &Options::length_penalty, kExponent, 1, std::nullopt, "Search", "--length-penalty X",
            "Beam search divides scores by length^X; a larger X favours longer texts"},
    Setting{"early_stopping", &Options::early_stopping, kAnything, 0, std::nullopt, "Search",
            "--early-stopping true|false|never",
            "When beam search stops: as soon as enough beams have ended (true), when a better one is unlikely (false), "
            "or when a better one is impossible (never)"},
    Setting{"coverage_penalty", &Options::coverage_penalty, kExponent, 0, kNoKey, "Search", "--coverage-penalty X",
            "Beam search lowers the score of texts that leave out parts of the source; 0 for none"},
    Setting{"do_sample", &Options::do_sample, kAnything, 0, std::nullopt, "Sampling", "--do-sample true|false",
            "Draw tokens by their probability; true if no value is given"},
    Setting{"temperature", &Options::temperature, kFactor, 1, std::nullopt, "Sampling", "--temperature X",
            "Divides logits before drawing: below 1 favours likely tokens, above 1 unlikely ones"},
    Setting{"top_k", &Options::top_k, kTopK, 50, std::nullopt, "Sampling", "--top-k K",
            "Draw from the K likeliest tokens; 0 for all"},
    Setting{"top_p", &Options::top_p, kShare, 1, std::nullopt, "Sampling", "--top-p P",
            "Draw from the likeliest tokens whose probabilities sum to P"},
    Setting{"seed", &Options::seed, kAnything, 0, kNoKey, "Sampling", "--seed N",
            "Random seed; the same seed and source give the same text in any batch"},
    Setting{"repetition_penalty", &Options::repetition_penalty, kFactor, 1, std::nullopt, "Repetition",
            "--repetition-penalty X", "Above 1 makes already generated tokens less likely"},
    Setting{"no_repeat_ngram_size", &Options::no_repeat_ngram_size, kCount, 0, std::nullopt, "Repetition",
            "--no-repeat-ngram-size N", "Never generate the same N tokens in a row twice; 0 to allow it"},
    Setting{"encoder_repetition_penalty", &Options::encoder_repetition_penalty, kFactor, 1, std::nullopt, "Repetition",
            "--encoder-repetition-penalty X", "Above 1 makes tokens of the source likelier"},
    Setting{"encoder_no_repeat_ngram_size", &Options::encoder_no_repeat_ngram_size, kCount, 0, std::nullopt,
            "Repetition", "--encoder-no-repeat-ngram-size N",
            "Never copy N tokens in a row from the source; 0 to allow it"},
    Setting{"max_length", &Options::max_length, kLength},
    Setting{"max_new_tokens", &Options::max_new_tokens, kLength, std::nullopt, std::nullopt, "Length",
            "--max-new-tokens N", "Maximum number of tokens to generate for one source"},
    Setting{"max_length_factor", &Options::max_length_factor, kLengthFactor, 0, kNoKey, "Length",
            "--max-length-factor X",
            "Maximum number of tokens to generate for each token of the source, plus 4; 0 for no such limit"},
    Setting{"min_length", &Options::min_length, kCount, 0},
    Setting{"min_new_tokens", &Options::min_new_tokens, kCount, std::nullopt, std::nullopt, "Length",
            "--min-new-tokens N", "Minimum number of tokens to generate for one source"},
    Setting{"exponential_decay_length_penalty", &Options::exponential_decay_length_penalty, kFactor, std::nullopt,
            std::nullopt, "Length", "--exponential-decay-length-penalty START,FACTOR",
            "After START tokens, each further token makes the end likelier by FACTOR"},
    Setting{
        "prompt_lookup_num_tokens", &Options::prompt_lookup_num_tokens, kCount, 0, std::nullopt, kDrafts,
        "--prompt-lookup-num-tokens N",
        "Guess up to N tokens from an earlier occurrence of the last ones, in the source or the result; 0 for none"},
    Setting{"decoder_start_token", &Options::decoder_start_token, kKnown, std::nullopt, "decoder_start_token_id"},
    Setting{"eos_tokens", &Options::eos_tokens, kKnown, std::nullopt, "eos_token_id"},
    Setting{"forced_bos_token", &Options::forced_bos_token, kKnown, std::nullopt, "forced_bos_token_id", "Tokens",
            "--forced-bos-token TOKEN", "First token to generate: as the vocabulary spells it, or its id"},
    Setting{"forced_eos_tokens", &Options::forced_eos_tokens, kKnown, std::nullopt, "forced_eos_token_id", "Tokens",
            "--forced-eos-token TOKEN", "Last token of a text that reaches the length limit"},
    Setting{"suppress_tokens", &Options::suppress_tokens, kUnwanted, std::nullopt, std::nullopt, "Tokens",
            "--suppress-tokens IDS", "Token ids never to generate, separated by spaces"},
    Setting{"begin_suppress_tokens", &Options::begin_suppress_tokens, kUnwanted, std::nullopt, std::nullopt, "Tokens",
            "--begin-suppress-tokens IDS", "Token ids not to generate as the first token"},
    Setting{"bad_words", &Options::bad_words, kKnown, std::nullopt, "bad_words_ids", "Tokens", "--bad-words-file FILE",
            "Phrases never to generate, one per line: text, or token ids with --token-ids"},
    Setting{"force_words", &Options::force_words, kKnown, std::nullopt, "force_words_ids", "Tokens",
            "--force-words-file FILE",
            "Phrases that every text must contain, in the form of --bad-words-file; needs --num-beams above 1"},
    Setting{"shortlist", &Options::shortlist, kKnown, std::nullopt, kNoKey, "Tokens", "--shortlist-file FILE",
            "The only tokens to generate, one per line: as the vocabulary spells them, or ids with --token-ids"},
    Setting{"lexical_shortlist", &Options::lexical_shortlist, kAnything, 1, kNoKey, "Tokens",
            "--lexical-shortlist true|false",
            "Generate only tokens that the model's shortlist allows for the source; true if no value is given"},
});

constexpr OptionRow<Options> kCallOptions[] = {
    {.name = "source_lang",
     .value = kOption<&Options::source_lang>,
     .other_names = {"src_lang"},
     .type = "LANG",
     .help = "Language of the sources, as the checkpoint spells it: eng_Latn, en_XX, en"},
    {.name = "target_lang",
     .value = kOption<&Options::target_lang>,
     .other_names = {"tgt_lang"},
     .type = "LANG",
     .help = "Language of the targets, spelled likewise"},
    {.name = "max_source_tokens",
     .value = kOption<&Options::max_source_tokens>,
     .range = {0, kMaxTokenCount},
     .type = "N",
     .help = "Maximum tokens of a source; 0: the model's limit, or 16384 if it has none"},
    {.name = "long_sources",
     .value = kWordOption<&Options::long_sources>,
     .type = "error|truncate",
     .help = "Refuse a source with more tokens, or truncate it"},
    {.name = "draft_source",
     .value = kOption<&Options::draft_source>,
     .group = kDrafts,
     .help = "Guess that results repeat their sources, as in correction and normalisation"},
    {.name = "num_assistant_tokens",
     .value = kOption<&Options::num_assistant_tokens>,
     .range = {1, kMaxSequences},
     .group = kDrafts,
     .type = "K|auto",
     .help = "Tokens to guess at once; auto, the default: a number that follows how many were right"},
    {.name = "top_log_probs",
     .value = kOption<&Options::top_log_probs>,
     .range = {0, kMaxSequences},
     .type = "K",
     .help = "Also write the K most likely tokens at each position; needs --json"},
};
static_assert(kMaxSourceTokens == 16384, "a help text names it");

constexpr bool has_each_once() {
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kSettings[i].name == kSettings[j].name || kSettings[i].key() == kSettings[j].name) return false;
    }
  }
  return true;
}
static_assert(has_each_once(), "a setting is listed twice");

// A check of one setting's value against its range.
class SettingsCheck {
 public:
  SettingsCheck(const Setting& setting, Dim vocabulary) : setting_(setting), vocabulary_(vocabulary) {}

  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(Number value) const {
    if (setting_.range.tokens != Tokens::none) return check_token(static_cast<std::int32_t>(value));
    if (std::is_same_v<Number, bool> || std::is_same_v<Number, std::uint64_t>) return;
    // NaN fails both comparisons, so it is refused too.
    if (value >= static_cast<Number>(setting_.range.min) && value <= static_cast<Number>(setting_.range.max)) return;
    throw ConfigError(
        fmt::format("{} is {}, expected {} to {}", setting_.name, value, setting_.range.min, setting_.range.max));
  }
  void operator()(EarlyStopping /*value*/) const {}
  void operator()(ExponentialDecay value) const {
    const bool fits = value.start >= 0 && value.start <= kMaxTokenCount &&
                      value.factor >= static_cast<float>(setting_.range.min) &&
                      value.factor <= static_cast<float>(setting_.range.max);
    if (fits) return;
    throw ConfigError(
        fmt::format("{} is {}, {}, expected a start of at least 0 and a factor above 0, at most {} and {}",
                    setting_.name, value.start, value.factor, kMaxTokenCount, setting_.range.max));
  }
  void operator()(const TokenIds& tokens) const {
    for (const std::int32_t token : tokens) check_token(token);
  }
  void operator()(const std::vector<TokenIds>& phrases) const {
    for (const TokenIds& phrase : phrases) {
      if (phrase.empty()) {
        refuse<ConfigError>(setting_.name, "a phrase without tokens, expected at least one");
      }
      (*this)(phrase);
    }
  }

 private:
  void check_token(std::int32_t token) const {
    if (token >= 0 && token < vocabulary_) return;
    refuse<ConfigError>(setting_.name, "token id {}, expected 0 to {}", token, vocabulary_ - 1);
  }

  const Setting& setting_;
  Dim vocabulary_;
};

}  // namespace

std::span<const Setting> generation_settings() {
  return kSettings;
}

std::span<const OptionRow<GenerateOptions>> generation_call_options() {
  return kCallOptions;
}

GenerateOptions operator|(const GenerateOptions& defaults, const GenerateOptions& options) {
  GenerateOptions all = options;
  for (const Setting& setting : kSettings) {
    setting.with_member([&](auto member) {
      if (!(all.*member)) all.*member = defaults.*member;
    });
  }
  return all;
}

GenerateOptions with_neutral_values(const GenerateOptions& options) {
  GenerateOptions neutral;
  for (const Setting& setting : kSettings) {
    setting.with_member([&](auto member) {
      using Value = typename std::remove_cvref_t<decltype(neutral.*member)>::value_type;
      if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value>) {
        if (setting.neutral) neutral.*member = static_cast<Value>(*setting.neutral);
      } else if constexpr (!std::is_same_v<Value, ExponentialDecay>) {
        (neutral.*member).emplace();
      }
    });
  }
  return neutral | options;
}

void check_settings(const GenerateOptions& options, Dim vocabulary) {
  for (const Setting& setting : kSettings) {
    setting.with_member([&](auto member) {
      if (const auto& value = options.*member) SettingsCheck(setting, vocabulary)(*value);
    });
  }
}

int new_token_limit(const GenerateOptions& options, std::size_t prompt_length) {
  if (options.max_new_tokens) return std::max(1, *options.max_new_tokens);
  if (options.max_length) return std::max(1, *options.max_length - static_cast<int>(prompt_length));
  return kDefaultNewTokens;
}

}  // namespace encdec
