#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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
  std::int32_t token = 0;
  float log_probability = 0.0f;  // natural logarithm
};

// Reason why a hypothesis has no more tokens.
enum class FinishReason : std::uint8_t {
  stop,    // the model generated an end token
  length,  // the maximum length was reached
};
constexpr std::string_view to_string(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : "length";
}

// One generated text, with its score.
struct Hypothesis {
  std::string text = {};  // empty if the checkpoint has no tokenizer
  std::vector<std::int32_t> token_ids =
      {};  // with the user's prefix and the end token if generated, without the decoder start token
  // Greedy search and sampling: the sum of token_scores. Beam search: transformers' sequences_scores.
  double score = 0.0;
  FinishReason finish_reason = FinishReason::stop;
  // By token: the model's log-probability, before logits processors; 0 for the user's prefix.
  std::vector<float> token_scores = {};
  // By token: the likeliest tokens at that step, best first. Empty unless GenerateOptions::top_log_probs > 0.
  std::vector<std::vector<TokenScore>> top_log_probs = {};
  // Attention maps if GenerateOptions::attention is set; none for an empty source. The last rows of the decoder's maps
  // belong to `token_ids`.
  AttentionMaps attention = {};
};

// The result for one input.
struct GenerateResult {
  std::vector<Hypothesis> hypotheses;  // best first; one empty hypothesis for an empty source
  std::size_t source_tokens = 0;       // number of source tokens read, special tokens included
  bool source_truncated = false;       // see LongSources
};

// Tokens that were guessed, to be checked together (speculative decoding).
struct DraftCounts {
  std::size_t proposed = 0;  // guessed tokens that the model checked
  std::size_t accepted = 0;  // number of these that were right
  std::size_t rounds = 0;    // steps that checked guesses

  DraftCounts& operator+=(const DraftCounts& other) {
    proposed += other.proposed;
    accepted += other.accepted;
    rounds += other.rounds;
    return *this;
  }
};

// Work done by one call so far.
struct GenerateProgress {
  std::size_t finished_sources = 0;  // sources whose results are complete
  std::size_t source_tokens = 0;     // tokens of all sources encoded so far
  std::size_t generated_tokens = 0;  // tokens of the best hypotheses of finished and running sources
  double encode_seconds = 0;         // time in encoders, summed over workers
  double decode_seconds = 0;         // time in decoders and their output layers, summed over workers
  DraftCounts drafts = {};

  // Adds the numbers of another worker. Leaves finished_sources unchanged.
  GenerateProgress& operator+=(const GenerateProgress& other) {
    source_tokens += other.source_tokens;
    generated_tokens += other.generated_tokens;
    encode_seconds += other.encode_seconds;
    decode_seconds += other.decode_seconds;
    drafts += other.drafts;
    return *this;
  }
};

// How to treat a source of more than GenerateOptions::max_source_tokens.
enum class LongSources : std::uint8_t {
  error,           // throw an InputError that names the source
  truncate,        // drop tokens at the side that the tokenizer's files name, else at the end. Special tokens stay.
  truncate_left,   // drop tokens at the beginning of a text
  truncate_right,  // drop tokens at the end of a text
};

// Maximum tokens of a source for models without a limit of positions. Work and memory grow with the square of a
// source's length.
inline constexpr int kMaxSourceTokens = 16'384;

// When beam search stops for a source, once num_beams hypotheses are finished.
enum class EarlyStopping : std::uint8_t {
  heuristic,  // when no running beam would beat the worst finished one if it ended now; `false` in files
  when_full,  // at once; `true` in files
  never,      // when no running beam can still beat the worst finished one; `"never"` in files
};

// After n > start generated tokens, |score| * (factor^(n - start) - 1) is added to the score of each end token.
struct ExponentialDecay {
  int start = 0;
  float factor = 1.0f;
  bool operator==(const ExponentialDecay&) const = default;
};

// How to generate. Names and meanings are those of Hugging Face's GenerationConfig. A setting that a call leaves unset
// comes from the checkpoint's generation_config.json, or else has its neutral value; generation_settings.h lists all
// settings with their ranges. Lengths count tokens: max_length and min_length include the prompt, max_new_tokens and
// min_new_tokens do not. The prompt is the decoder start token and the user's prefix; for a decoder-only model it is
// the input.
struct GenerateOptions {
  std::optional<int> num_beams = {};             // 1 for greedy search or sampling
  std::optional<int> num_return_sequences = {};  // number of hypotheses or samples to return
  std::optional<int> max_length = {};
  std::optional<int> max_new_tokens = {};  // overrides max_length
  // Not in transformers: at most this number of tokens for each token of the source, and 4 more; 0 for no such limit.
  std::optional<float> max_length_factor = {};
  std::optional<int> min_length = {};      // length before which no end token is allowed
  std::optional<int> min_new_tokens = {};  // overrides min_length
  // The score of a hypothesis in beam search is (sum of its log-probabilities) / length^length_penalty.
  std::optional<float> length_penalty = {};
  std::optional<EarlyStopping> early_stopping = {};
  // Not in transformers (Wu et al. 2016, equation 14). Adds coverage_penalty * sum(log(min(a, 1))) over all source
  // tokens to a hypothesis' score, with a := total attention that the source token received.
  std::optional<float> coverage_penalty = {};
  std::optional<ExponentialDecay> exponential_decay_length_penalty = {};

  std::optional<bool> do_sample = {};     // draw tokens instead of taking the likeliest
  std::optional<float> temperature = {};  // divisor of the logits before tokens are drawn
  std::optional<int> top_k = {};          // 0 for all
  std::optional<float> top_p = {};        // 0 for the likeliest token alone, as in transformers
  // Seed of the random numbers. They depend only on the seed, the source and its prefix, so that equal inputs get equal
  // samples.
  std::optional<std::uint64_t> seed = {};

  // Maximum number of tokens to guess as those that follow an earlier occurrence of the last tokens, in the source or
  // the result; 0 for none. Part of speculative decoding, see draft_source.
  std::optional<int> prompt_lookup_num_tokens = {};

  std::optional<float> repetition_penalty = {};          // 1 for none
  std::optional<float> encoder_repetition_penalty = {};  // 1 for none; above 1 makes tokens of the source likelier
  std::optional<int> no_repeat_ngram_size = {};          // 0 for none
  std::optional<int> encoder_no_repeat_ngram_size = {};  // the same for n-grams of the source
  std::optional<std::vector<TokenIds>> bad_words = {};   // phrases never to generate
  std::optional<TokenIds> suppress_tokens = {};          // tokens never to generate
  std::optional<TokenIds> begin_suppress_tokens = {};    // tokens not to generate as the first token
  // Whether the tokens to generate are those that the model's lexical shortlist allows for the source, if it has one.
  std::optional<bool> lexical_shortlist = {};
  // First token to generate; overrides the one of target_lang.
  std::optional<std::int32_t> forced_bos_token = {};
  std::optional<TokenIds> forced_eos_tokens = {};  // tokens allowed as the last one when the maximum length is reached
  // Not in transformers 5: phrases that every hypothesis must contain (Post & Vilar 2018). REQUIRES: num_beams > 1.
  std::optional<std::vector<TokenIds>> force_words = {};
  // Not in transformers: the only tokens to generate; empty for all.
  std::optional<TokenIds> shortlist = {};
  std::optional<TokenIds> eos_tokens = {};               // tokens that end a sequence
  std::optional<std::int32_t> decoder_start_token = {};  // required for models with an encoder

  // Languages of a multilingual model, as the checkpoint spells them ("fra_Latn", "fr_XX", "fr"); empty for its
  // defaults. Depending on the model, the target language becomes the first token, the start token, or part of the
  // source.
  std::string source_lang = {};
  std::string target_lang = {};

  // Maximum tokens of a source, special tokens included. 0 for the model's limit of positions, or kMaxSourceTokens if
  // the model has none.
  int max_source_tokens = 0;
  LongSources long_sources = LongSources::error;

  // Speculative decoding: guesses of the next tokens, which the model checks together. They never change the result.
  // Search with beams makes none.
  bool draft_source = false;                     // an input without a draft of its own has its source as draft
  std::optional<int> num_assistant_tokens = {};  // tokens to guess at once; unset: follows how many were right

  // Number of the likeliest tokens to return for each step.
  int top_log_probs = 0;
  // Attention maps to return. The model reads each finished result once more to compute them, with the same bits as in
  // the search; so searches need not keep them.
  std::optional<AttentionSelection> attention = {};

  // Sources decoded together; 0 for what fits memory and CPU. Results do not depend on it.
  int batch_size = 0;
  // Batches side by side, each with LoadOptions::threads threads. Results do not depend on it.
  int workers = 1;

  // Callbacks. An exception from a callback ends the work and is thrown by generate().

  // Called for each token of a result, prefix included, as soon as the token is final. With beams, a token is final
  // when all beams that can still win contain it. The caller's thread calls it. REQUIRES: num_return_sequences is 1.
  std::function<void(std::size_t source, std::int32_t token)> on_token = {};
  // Called after each step of a worker, by the worker's thread. One call at a time.
  std::function<void(const GenerateProgress&)> on_progress = {};
  // Called after each run of a node of the model's graphs, with its start and end time. As on_progress.
  NodeRunObserver on_node_run = {};
};

// One input: a text, or token ids, which are used exactly as given.
struct GenerateInput {
  std::variant<std::string, TokenIds> source;
  std::variant<std::monostate, std::string, TokenIds> prefix = {};  // beginning of the result
  // A guess of the result, prefix included, such as the translation of an earlier version of the source. Makes a search
  // without beams faster where it is right, and never changes the result.
  std::variant<std::monostate, std::string, TokenIds> draft = {};
  // Frames for models that read frames: float32 [F, width], F a multiple of per_row (see FrameOptions). `source` is
  // then ignored.
  Tensor frames = {};
};

// A source of inputs and a sink for results, for more of them than fit into memory. The thread that called generate()
// calls its functions.
class GenerateStream {
 public:
  virtual ~GenerateStream() = default;
  // Whether next() waits for an input that has not arrived.
  enum class Wait : std::uint8_t { no, yes };
  // Returns the next input; nullopt at the end. With Wait::no, nullopt may also mean that no input has arrived yet.
  // If it throws, the input ends: generate() finishes the earlier inputs and then throws the same exception.
  virtual std::optional<GenerateInput> next(Wait wait) = 0;
  // Receives the results in the order of the inputs.
  virtual void write(GenerateResult result) = 0;
  // Called if the model cannot read the input that next() returned last. True: the input gets a result without
  // hypotheses. False: the input ends, as if next() had thrown `error`.
  virtual bool skips(const Error& /*error*/) { return false; }
};

// A stream whose inputs and results are all in memory.
template <class Source>
class ListStream : public GenerateStream {
 public:
  explicit ListStream(std::span<const Source> sources) : sources_(sources) {}

  std::optional<GenerateInput> next(Wait /*wait*/) override {
    return read_ < sources_.size() ? std::optional(GenerateInput{sources_[read_++]}) : std::nullopt;
  }
  void write(GenerateResult result) override { results.push_back(std::move(result)); }

  std::vector<GenerateResult> results;

 private:
  std::span<const Source> sources_;
  std::size_t read_ = 0;
};

}  // namespace encdec
