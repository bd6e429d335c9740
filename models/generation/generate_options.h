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

struct TokenScore {
  std::int32_t token = 0;
  float log_probability = 0.0f;  // natural logarithm
};

enum class FinishReason : std::uint8_t {
  stop,    // the model generated an end token
  length,  // the maximum length was reached
};
constexpr std::string_view to_string(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : "length";
}

struct Hypothesis {
  std::string text = {};  // empty if the checkpoint has no tokenizer
  // Includes the user's prefix and a generated end token, but not the decoder start token.
  std::vector<std::int32_t> token_ids = {};
  // In greedy search and sampling, the sum of token_scores. In beam search, the sequences_scores of transformers.
  double score = 0.0;
  FinishReason finish_reason = FinishReason::stop;
  // By token: the model's log-probability before logits processors; 0 for the user's prefix.
  std::vector<float> token_scores = {};
  // By token: the likeliest tokens at that step, best first. Empty unless GenerateOptions::top_log_probs > 0.
  std::vector<std::vector<TokenScore>> top_log_probs = {};
  // See GenerateOptions::attention. The last rows of the decoder's maps belong to `token_ids`.
  AttentionMaps attention = {};
};

struct GenerateResult {
  std::vector<Hypothesis> hypotheses;  // best first; one empty hypothesis for an empty source
  std::size_t source_tokens = 0;       // number of source tokens read, with special tokens
  bool source_truncated = false;       // see LongSources
};

// Counts of draft tokens (speculative decoding).
struct DraftCounts {
  std::size_t proposed = 0;  // number of draft tokens that the model verified
  std::size_t accepted = 0;  // number of draft tokens that the model accepted
  std::size_t rounds = 0;    // number of steps that verified draft tokens

  DraftCounts& operator+=(const DraftCounts& other) {
    proposed += other.proposed;
    accepted += other.accepted;
    rounds += other.rounds;
    return *this;
  }
};

struct GenerateProgress {
  std::size_t finished_sources = 0;  // number of sources whose results are complete
  std::size_t source_tokens = 0;     // number of tokens of all sources encoded so far
  std::size_t generated_tokens = 0;  // number of tokens of the best hypotheses of all sources
  double encode_seconds = 0;         // summed over workers
  double decode_seconds = 0;         // summed over workers, output layers included
  DraftCounts drafts = {};

  // Adds the counts of another worker, except finished_sources.
  GenerateProgress& operator+=(const GenerateProgress& other) {
    source_tokens += other.source_tokens;
    generated_tokens += other.generated_tokens;
    encode_seconds += other.encode_seconds;
    decode_seconds += other.decode_seconds;
    drafts += other.drafts;
    return *this;
  }
};

// How to treat a source with more tokens than GenerateOptions::max_source_tokens.
enum class LongSources : std::uint8_t {
  error,           // throw an InputError that names the source
  truncate,        // drop tokens on the side that the tokenizer's files name, by default right; keep special tokens
  truncate_left,   // drop tokens at the beginning of a text
  truncate_right,  // drop tokens at the end of a text
};

// Default maximum tokens of a source without a position limit. The cost grows with the square of the length.
inline constexpr int kMaxSourceTokens = 16'384;

// When beam search stops for a source after num_beams hypotheses are finished.
enum class EarlyStopping : std::uint8_t {
  heuristic,  // if no running beam would beat the worst finished hypothesis by ending now; `false` in files
  when_full,  // at once; `true` in files
  never,      // if no running beam can ever beat the worst finished hypothesis; `"never"` in files
};

// After n > start generated tokens, |score| * (factor^(n - start) - 1) is added to the score of each end token.
struct ExponentialDecay {
  int start = 0;
  float factor = 1.0f;
  bool operator==(const ExponentialDecay&) const = default;
};

// Options of generation, named and defined as in Hugging Face's GenerationConfig. A setting that a
// call leaves unset is taken from the checkpoint's generation_config.json, or else has its neutral
// value. generation_settings.h lists all settings with their ranges.
// Lengths are numbers of tokens: max_length and min_length include the prompt, max_new_tokens and
// min_new_tokens do not. The prompt is the decoder start token and the user's prefix; for a
// decoder-only model it is the input.
struct GenerateOptions {
  std::optional<int> num_beams = {};             // 1 for greedy search or sampling
  std::optional<int> num_return_sequences = {};  // number of hypotheses or samples to return
  std::optional<int> max_length = {};
  std::optional<int> max_new_tokens = {};  // overrides max_length
  // Limits the number of new tokens to max_length_factor * (source tokens) + 4; 0 for no limit. Not in transformers.
  std::optional<float> max_length_factor = {};
  std::optional<int> min_length = {};        // end tokens are banned below this length
  std::optional<int> min_new_tokens = {};    // overrides min_length
  std::optional<float> length_penalty = {};  // score := sum of log-probabilities / length^penalty
  std::optional<EarlyStopping> early_stopping = {};
  // Not in transformers (Wu et al. 2016, equation 14). Adds coverage_penalty * sum(log(min(a, 1)))
  // over all source tokens to a hypothesis' score, where `a` is the attention that the token received.
  std::optional<float> coverage_penalty = {};
  std::optional<ExponentialDecay> exponential_decay_length_penalty = {};

  std::optional<bool> do_sample = {};      // draw tokens instead of taking the likeliest
  std::optional<float> temperature = {};   // divides the logits before drawing
  std::optional<int> top_k = {};           // 0 for all
  std::optional<float> top_p = {};         // 0 for the likeliest token alone, as in transformers
  std::optional<std::uint64_t> seed = {};  // equal seeds, sources and prefixes lead to equal samples

  // Speculative decoding by prompt lookup: maximum number of draft tokens to copy from after an earlier occurrence of
  // the last tokens, in the source or the result; 0 for none.
  std::optional<int> prompt_lookup_num_tokens = {};

  std::optional<float> repetition_penalty = {};          // 1 for none
  std::optional<float> encoder_repetition_penalty = {};  // 1 for none; above 1 makes tokens of the source likelier
  std::optional<int> no_repeat_ngram_size = {};          // 0 for none
  std::optional<int> encoder_no_repeat_ngram_size = {};  // the same for n-grams of the source
  std::optional<std::vector<TokenIds>> bad_words = {};   // phrases never to generate
  std::optional<TokenIds> suppress_tokens = {};          // tokens never to generate
  std::optional<TokenIds> begin_suppress_tokens = {};    // tokens not to generate as the first token
  // Generate only the tokens that the model's lexical shortlist, if any, allows for the source.
  std::optional<bool> lexical_shortlist = {};
  std::optional<std::int32_t> forced_bos_token = {};  // overrides the token of target_lang
  std::optional<TokenIds> forced_eos_tokens = {};     // the only tokens allowed as last token at the maximum length
  // Not in transformers 5: phrases that every hypothesis must contain (Post & Vilar 2018).
  // REQUIRES: num_beams > 1.
  std::optional<std::vector<TokenIds>> force_words = {};
  std::optional<TokenIds> shortlist = {};                // the only tokens allowed; not in transformers
  std::optional<TokenIds> eos_tokens = {};               // tokens that end a sequence
  std::optional<std::int32_t> decoder_start_token = {};  // required for models with an encoder

  // Languages of a multilingual model, as the checkpoint spells them ("fra_Latn", "fr_XX", "fr");
  // empty for the model's defaults. Depending on the model, the target language becomes the first
  // token, the start token, or part of the source.
  std::string source_lang = {};
  std::string target_lang = {};

  // Maximum tokens of a source, special tokens included. 0: the position limit or, without one, kMaxSourceTokens.
  int max_source_tokens = 0;
  LongSources long_sources = LongSources::error;

  // Speculative decoding: speeds up greedy search and sampling without changing the result.
  bool draft_source = false;                     // use the source as the draft of an input without a draft
  std::optional<int> num_assistant_tokens = {};  // number of draft tokens per step; adaptive if unset

  int top_log_probs = 0;  // number of likeliest tokens to return for each step
  // Attention maps to return. To compute them, the model reads each finished result once more.
  std::optional<AttentionSelection> attention = {};

  // Results do not depend on `batch_size` and `workers`.
  int batch_size = 0;  // number of sources decoded together; 0: chosen by memory and CPU
  int workers = 1;     // number of batches decoded in parallel, each with LoadOptions::threads threads

  // Callbacks. An exception from a callback ends the work and is thrown by generate().
  // Called for each token of a result, prefix included, as soon as the token is final. The callback runs on the thread
  // that called generate(). In beam search a token is final when all beams that can still win contain it.
  // REQUIRES: num_return_sequences is 1.
  std::function<void(std::size_t source, std::int32_t token)> on_token = {};
  // Called after each step of a worker, by the worker's thread. One call at a time.
  std::function<void(const GenerateProgress&)> on_progress = {};
  // Called after each run of a graph node, with its start and end time; on the same threads as on_progress.
  NodeRunObserver on_node_run = {};
};

// One input: a text, or token ids, which are used exactly as given.
struct GenerateInput {
  std::variant<std::string, TokenIds> source;
  std::variant<std::monostate, std::string, TokenIds> prefix = {};  // beginning of the result
  // Draft of the result, prefix included, such as an earlier translation. Never changes the result.
  std::variant<std::monostate, std::string, TokenIds> draft = {};
  // Replaces `source` in models that read frames: float32 [F, width]; see FrameOptions.
  Tensor frames = {};
};

// Inputs and results that may not fit into memory. Only the thread that called generate() uses the stream.
class GenerateStream {
 public:
  virtual ~GenerateStream() = default;
  enum class Wait : std::uint8_t { no, yes };
  // Returns the next input, or nullopt at the end. With Wait::no, nullopt may also mean that no input has arrived yet.
  // An exception ends the input; generate() rethrows it after the earlier inputs are done.
  virtual std::optional<GenerateInput> next(Wait wait) = 0;
  // Receives the results in the order of the inputs.
  virtual void write(GenerateResult result) = 0;
  // Called if the model cannot read the last input from next(). Return true to skip this input; its result then has no
  // hypotheses. Return false to end the input, as if next() had thrown `error`.
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
