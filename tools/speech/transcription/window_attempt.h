#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "encdec/models/generation/draft.h"
#include "encdec/models/generation/search.h"
#include "encdec/speech/transcription/transcription_task.h"

namespace encdec {

// A text that is being generated for a window.
struct WindowSequence {
  TokenIds tokens = {};    // tokens after the prompt, without the end token
  float sum = 0;           // sum of log-probabilities, end token included
  std::size_t number = 0;  // number of a sample
  bool has_ended = false;  // the model generated an end token
};

// One attempt at a window's text, at one temperature: greedy, beam search or samples. In the first step one row stands
// for all sequences.
// Order of calls: ([draft] add_inputs read+ advance)+ (finish | close)
class WindowAttempt {
 public:
  struct Settings {
    const TranscriptionTask& task;
    std::span<const std::int32_t> prompt;
    std::size_t read = 0;  // number of prompt tokens that the target has read
    std::size_t max_new_tokens = 0;
    double temperature = 0;
    RandomKey random;  // key of the attempt
    Drafter& drafter;  // draft tokens of greedy search
  };
  WindowAttempt(const Settings& settings, int target);
  virtual ~WindowAttempt() = default;

  // See Search.
  virtual void draft(std::size_t /*most*/) {}
  virtual void read_drafted(const StepOutput& /*output*/) {}
  virtual void add_inputs(std::vector<Session::TargetTokens>& inputs);
  // Bans tokens in a row's logits and chooses its next tokens.
  virtual void read(std::size_t row, const StepOutput& output);
  bool is_first_step() const { return length_ == 0; }
  std::size_t length() const { return length_; }

  // Appends the tokens chosen. Returns true if the attempt is over.
  bool advance(Session& session);
  // Closes all targets and returns the best sequence.
  WindowSequence finish(Session& session);
  void close(Session& session);

 protected:
  struct Choice {
    std::int32_t token = 0;
    float log_probability = 0;  // log-softmax over the allowed tokens, at temperature 1
  };
  // Returns the tokens so far of a row's sequence.
  virtual std::span<const std::int32_t> tokens(std::size_t row) const { return running_[row].tokens; }
  // Bans the tokens that must not follow `sampled`, the tokens after the prompt.
  void ban(std::span<const std::int32_t> sampled, std::span<float> logits) const;
  // Chooses the next tokens of a row from logits in which tokens have been banned.
  virtual void choose(std::size_t row, std::span<const float> logits, ProcessorScratch& scratch) = 0;
  // Returns the choice of `token`; of token 0 for -1, which means that all tokens are banned. `normalizer` is the
  // log-sum-exp of the logits.
  static Choice choice(std::int32_t token, std::span<const float> logits, float normalizer) {
    token = std::max(token, 0);
    return {token, logits[static_cast<std::size_t>(token)] - normalizer};
  }
  // Appends the token chosen to a sequence. Returns whether the sequence has ended.
  bool append(const Choice& choice, WindowSequence& sequence) const;
  // Returns true if no more sequences are needed.
  virtual bool extend(Session& session) = 0;
  bool is_end(std::int32_t token) const { return token == settings_.task.tokens().end_of_text; }

  Settings settings_;
  std::size_t group_ = 1;     // number of beams or samples
  std::vector<int> targets_;  // by running sequence
  std::vector<WindowSequence> running_ = {{}};
  std::vector<WindowSequence> finished_;
  std::vector<std::vector<Choice>> choices_;  // by row
  std::size_t length_ = 0;                    // number of tokens of each running sequence
};

// Returns an attempt for the temperature: above 0 samples; at 0 beam search if beam_size is above 1, or greedy search.
std::unique_ptr<WindowAttempt> make_attempt(const WindowAttempt::Settings& settings, int target);

// Bans the tokens that must not follow `sampled`, the tokens after the prompt, in texts with timestamps (openai/whisper
// decoding.py, ApplyTimestampRules):
// - The first token is a timestamp, of at most `max_initial` seconds.
// - Later timestamps come in pairs: the end of a segment and the start of the next. They do not decrease.
// - If all timestamps together are likelier than any other single token, the next token is a timestamp.
void apply_timestamp_rules(const WhisperTokens& tokens, std::optional<double> max_initial,
                           std::span<const std::int32_t> sampled, std::span<float> logits);

}  // namespace encdec
