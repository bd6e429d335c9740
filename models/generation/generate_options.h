#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/engine/run_state.h"
#include "encdec/models/session/attention_map.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// A token and its log-probability.
struct TokenScore {
  std::int32_t token = 0;        // its id
  float log_probability = 0.0f;  // natural logarithm
};

// Why a hypothesis is as long as it is.
enum class FinishReason : std::uint8_t {
  stop,    // the model has ended it
  length,  // it has as many tokens as it may have
};
constexpr std::string_view to_string(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : "length";
}

// One of the things that the model would say, and how likely it finds it.
struct Hypothesis {
  std::string text = {};  // empty where the checkpoint has no tokenizer
  std::vector<std::int32_t> token_ids =
      {};  // without the decoder start token; the end token is kept where it was generated
  // Greedy search and sampling: the sum of the generated tokens' log-probabilities, whatever rules made of them. Beam
  // search: what transformers calls sequences_scores.
  double score = 0.0;
  FinishReason finish_reason = FinishReason::stop;  // why it has no more tokens
  // By token: the model's log-probability, before any rule; 0 for a prefix that the user gave.
  std::vector<float> token_scores = {};
  // By token: the likeliest ones at its place, best first, if GenerateOptions::top_log_probs asks for them.
  std::vector<std::vector<TokenScore>> top_log_probs = {};
  // If GenerateOptions::attention asks for it; without maps for an empty source. The last rows of the decoder's are
  // those of `token_ids`.
  AttentionMaps attention = {};
};

// What a call makes of one input.
struct GenerateResult {
  std::vector<Hypothesis> hypotheses;  // best first; one empty hypothesis for an empty source
  std::size_t source_tokens = 0;       // that were read, special ones included
  bool source_truncated = false;       // see LongSources
};

// Work done by one call so far.
struct GenerateProgress {
  std::size_t finished_sources = 0;  // whose results are complete
  std::size_t source_tokens = 0;     // of sources that are encoded
  std::size_t generated_tokens = 0;  // of the best hypotheses, and of those that run now
  double encode_seconds = 0;         // of all workers together, like the next
  double decode_seconds = 0;         // in the decoder and its output

  // Both, of different workers; finished_sources stay.
  GenerateProgress& operator+=(const GenerateProgress& other) {
    source_tokens += other.source_tokens;
    generated_tokens += other.generated_tokens;
    encode_seconds += other.encode_seconds;
    decode_seconds += other.decode_seconds;
    return *this;
  }
};

// What becomes of a source of more than GenerateOptions::max_source_tokens.
enum class LongSources : std::uint8_t {
  error,     // an InputError that names it
  truncate,  // its end is left out: of a text, what stands before the special tokens at the end
};

// Where a model's positions do not bound its sources: work and memory grow with the square of their tokens.
inline constexpr int kMaxSourceTokens = 16'384;

// When beam search for a source ends, once num_beams hypotheses are finished.
enum class EarlyStopping : std::uint8_t {
  heuristic,  // when no running beam, were it to end now, would beat the worst of them: `false` in files
  when_full,  // at once: `true`
  never,      // when no running beam can beat the worst of them any more, however it goes on: `"never"`
};

// The end tokens' scores grow by |score| * (factor^(n - start) - 1) when n > start tokens were generated.
struct ExponentialDecay {
  int start = 0;        // tokens that are not punished
  float factor = 1.0f;  // for each token beyond
  bool operator==(const ExponentialDecay&) const = default;
};

// How to generate: what generation_config.json may say, and what a call may ask for. What is not set by a call comes
// from the checkpoint's file, and else is neutral: generation_settings.h is the table of these settings, with their
// ranges. Names and meanings are those of Hugging Face's GenerationConfig. Lengths count tokens; those of `length`
// count the prompt too, those of `new_tokens` do not. The prompt is the decoder start token and the prefix that a user
// gives, or what a decoder-only model is given.
struct GenerateOptions {
  std::optional<int> num_beams = {};             // 1 for greedy search or sampling
  std::optional<int> num_return_sequences = {};  // the best so many of a search, or so many samples
  std::optional<int> max_length = {};            // the prompt included
  std::optional<int> max_new_tokens = {};        // goes before max_length
  std::optional<int> min_length = {};            // no end token before it, the prompt included
  std::optional<int> min_new_tokens = {};        // goes before min_length
  // A hypothesis' score is the sum of its log-probabilities / length^length_penalty.
  std::optional<float> length_penalty = {};
  std::optional<EarlyStopping> early_stopping = {};  // of beam search
  // Not in transformers (Wu et al. 2016, equation 14): added to a hypothesis' score, penalty * sum of
  // log(min(attention that a source token got, 1)).
  std::optional<float> coverage_penalty = {};
  std::optional<ExponentialDecay> exponential_decay_length_penalty = {};  // none if not set

  std::optional<bool> do_sample = {};     // draw tokens instead of taking the likeliest
  std::optional<float> temperature = {};  // logits are divided by it before tokens are drawn
  std::optional<int> top_k = {};          // 0 for all
  std::optional<float> top_p = {};        // 0 for the likeliest token alone, as in transformers
  // Equal sources get equal samples: what is drawn depends on the seed, the source and its prefix, and nothing else.
  std::optional<std::uint64_t> seed = {};

  std::optional<float> repetition_penalty = {};          // 1 for none, like the next
  std::optional<float> encoder_repetition_penalty = {};  // above 1: tokens of the source become likelier
  std::optional<int> no_repeat_ngram_size = {};          // 0 for none, like the next
  std::optional<int> encoder_no_repeat_ngram_size = {};  // n-grams of the source
  std::optional<std::vector<TokenIds>> bad_words = {};   // phrases that must not be produced
  std::optional<TokenIds> suppress_tokens = {};          // must not be produced
  std::optional<TokenIds> begin_suppress_tokens = {};    // must not be the first
  // The first token to generate; goes before what target_lang asks for.
  std::optional<std::int32_t> forced_bos_token = {};
  std::optional<TokenIds> forced_eos_tokens = {};  // the only ones as the last token that max_length allows
  // Not in transformers 5: phrases that every hypothesis must contain (Post & Vilar 2018). Needs beams.
  std::optional<std::vector<TokenIds>> force_words = {};
  // Not in transformers: the only tokens that may be produced, all if empty.
  std::optional<TokenIds> shortlist = {};
  std::optional<TokenIds> eos_tokens = {};               // any of them ends a sequence
  std::optional<std::int32_t> decoder_start_token = {};  // models with an encoder need one

  // Languages of multilingual models, as the checkpoint spells them ("fra_Latn", "fr_XX", "fr"); empty: its defaults.
  // The target's becomes the first token, the start token or a part of the source: whatever the model expects.
  std::string source_lang = {};
  std::string target_lang = {};  // likewise

  // Most tokens of a source, special ones included; 0 for as many as the model has positions for, and where they do not
  // end for kMaxSourceTokens.
  int max_source_tokens = 0;
  LongSources long_sources = LongSources::error;  // what becomes of one that has more

  // So many of the likeliest tokens are told at each step.
  int top_log_probs = 0;
  // What the model looked at: read again when a result is there, so that searches need not keep what they may not need.
  // It is the same, bit by bit.
  std::optional<AttentionSelection> attention = {};

  // Sources decoded together; 0 for what fits memory and CPU. Results do not depend on it.
  int batch_size = 0;
  // Batches side by side, each with LoadOptions::threads threads. Results do not depend on it.
  int workers = 1;

  // Called for each token of a result, its prefix too, as soon as it is certain: with beams, when all that may still
  // win agree on it. Only where one sequence is returned. One call at a time, from any worker's thread, like the next.
  std::function<void(std::size_t source, std::int32_t token)> on_token = {};
  // Called after each step of a worker. What it throws ends the work, and comes out of generate().
  std::function<void(const GenerateProgress&)> on_progress = {};
  // Called after each run of a node of the model's graphs: where time goes.
  NodeRunObserver on_node_run = {};
};

// One thing to generate from: a text, or token ids, which are used exactly as given. The prefix is what the result
// begins with, in the same form as the source.
struct GenerateInput {
  std::variant<std::string, TokenIds> source;                       // what is read
  std::variant<std::monostate, std::string, TokenIds> prefix = {};  // what the result begins with
  // What is read instead by models that read sound: frames [F, mel bands] as they were trained on, F a multiple of
  // kFramesPerRow.
  Tensor frames = {};
};

// Where sources come from, and where results go, when there are too many to hold them all. All functions are called
// by one thread at a time.
class GenerateStream {
 public:
  virtual ~GenerateStream() = default;
  // Whether to wait for an input that has not arrived.
  enum class Wait : std::uint8_t { no, yes };
  // The next input; nullopt at the end, or where none has arrived yet and `wait` is no. What it throws ends the input:
  // it comes out of generate() when the inputs before are done.
  virtual std::optional<GenerateInput> next(Wait wait) = 0;
  // Results, in the order of the inputs.
  virtual void write(GenerateResult result) = 0;
  // The last input is one that the model cannot take. True gives it a result without hypotheses; false ends the input,
  // as if next() had thrown this.
  virtual bool passes_over(const Error& /*error*/) { return false; }
};

}  // namespace encdec
