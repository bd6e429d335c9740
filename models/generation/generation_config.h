#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/config.h"
#include "encdec/models/tokenizer/tokenizer.h"

namespace encdec {

// What settings may be, in files and in options.
inline constexpr int kMaxTokenCount = 1'000'000;              // lengths, and sizes of n-grams
inline constexpr int kMaxSequences = 1'000;                   // beams of a source, and results: more is a typing error
inline constexpr double kMinFactor = 1e-6, kMaxFactor = 1e6;  // of scores, which must stay finite
inline constexpr double kMaxScoreExponent = 100;              // above and below 0, like other penalties

// When beam search for a source ends, once num_beams hypotheses are finished.
enum class EarlyStopping : std::uint8_t {
  heuristic,  // when no running beam, were it to end now, would beat the worst of them: `false` in files
  when_full,  // at once: `true`
  never,      // when no running beam can beat the worst of them any more, however it goes on: `"never"`
};

// The end tokens' scores grow by |score| * (factor^(n - start) - 1) when n > start tokens were generated.
struct ExponentialDecay {
  int start = 0;
  float factor = 1.0f;
};

// How to generate, with the names and meanings of Hugging Face's GenerationConfig. Lengths count tokens; those of
// `length` count the prompt too, those of `new_tokens` do not. The prompt is the decoder start token and the prefix
// that a user gives, or what a decoder-only model is given.
struct GenerationConfig {
  int num_beams = 1;
  int num_return_sequences = 1;
  float length_penalty = 1.0f;  // a hypothesis' score is the sum of its log-probabilities / length^length_penalty
  EarlyStopping early_stopping = EarlyStopping::heuristic;
  // Not in transformers (Wu et al. 2016, equation 14): added to a hypothesis' score, penalty * sum of
  // log(min(attention that a source token got, 1)).
  float coverage_penalty = 0.0f;

  bool do_sample = false;
  float temperature = 1.0f;
  int top_k = 50;  // 0 for all
  float top_p = 1.0f;
  std::uint64_t seed = 0;

  std::optional<int> max_length = {};
  std::optional<int> max_new_tokens = {};  // goes before max_length
  int min_length = 0;
  std::optional<int> min_new_tokens = {};  // goes before min_length
  std::optional<ExponentialDecay> exponential_decay_length_penalty = {};

  float repetition_penalty = 1.0f;                        // 1 for none, like the next
  float encoder_repetition_penalty = 1.0f;                // above 1: tokens of the source become likelier
  int no_repeat_ngram_size = 0;                           // 0 for none, like the next
  int encoder_no_repeat_ngram_size = 0;                   // n-grams of the source
  std::vector<std::vector<std::int32_t>> bad_words = {};  // sequences of tokens that must not be produced
  std::vector<std::int32_t> suppress_tokens = {};         // must not be produced
  std::vector<std::int32_t> begin_suppress_tokens = {};   // must not be the first
  // Not in transformers 5: phrases that every hypothesis must contain (Post & Vilar 2018).
  std::vector<std::vector<std::int32_t>> force_words = {};
  // Not in transformers: the only tokens that may be produced, all if empty.
  std::vector<std::int32_t> shortlist = {};

  std::vector<std::int32_t> eos_tokens = {};             // any of them ends a sequence
  std::optional<std::int32_t> decoder_start_token = {};  // models with an encoder need one
  std::optional<std::int32_t> forced_bos_token = {};
  std::vector<std::int32_t> forced_eos_tokens = {};

  // Most tokens that may be generated after a prompt of so many tokens, at least 1. Without any limit: 20, as in
  // transformers.
  int new_token_limit(std::size_t prompt_length = 1) const;

  // Keys of the file that ask for what this version does not do, for a note to the user: "penalty_alpha 0.6".
  std::vector<std::string> unsupported = {};
};

// The defaults of a checkpoint. `generation` is generation_config.json, or config.json where there is none: then and
// only then are the generation keys of config.json in force. Throws ConfigError, naming the file and the key.
GenerationConfig read_generation_config(const JsonObject& generation, const TransformerConfig& config);

// The same for a folder in any format: its generation_config.json, or config.json where there is none. Formats that
// have neither have tokens by name, which are looked up in `tokenizer` (null for none), and limits as long as
// CTranslate2's.
GenerationConfig read_generation_settings(const Checkpoint& checkpoint, const TransformerConfig& config,
                                          const Tokenizer* tokenizer);

}  // namespace encdec
