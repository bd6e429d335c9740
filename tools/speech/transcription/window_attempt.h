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
  float sum = 0;           // sum of log-probabilities, with the end token
  std::size_t number = 0;  // number of the sample, from 0
  bool has_ended = false;
};

// One attempt to decode a window at one temperature. In the first step, all sequences share a row.
// Order of calls: ([draft] add_inputs read+ advance)+ (finish | close)
class WindowAttempt {
 public:
  struct Settings {
    const TranscriptionTask& task;
    std::span<const std::int32_t> prompt;
    std::size_t read = 0;  // number of prompt tokens that the target has read
    std::size_t max_new_tokens = 0;
    double temperature = 0;
    RandomKey random;
    Drafter& drafter;  // used only by greedy search
  };
  WindowAttempt(const Settings& settings, int target);
  virtual ~WindowAttempt() = default;

  // The functions of Search with the same names call these functions.
  virtual void draft(std::size_t /*most*/) {}
  virtual void read_drafted(const StepOutput& /*output*/) {}
  virtual void add_inputs(std::vector<Session::TargetTokens>& inputs);
  // Bans tokens in the logits of a row, then chooses the next tokens of the row.
  virtual void read(std::size_t row, const StepOutput& output);
  bool is_first_step() const { return length_ == 0; }
  std::size_t length() const { return length_; }

  // Appends the chosen tokens. Returns true if the attempt is over.
  bool advance(Session& session);
  // Closes all targets. Returns the best sequence.
  WindowSequence finish(Session& session);
  void close(Session& session);

 protected:
  struct Choice {
    std::int32_t token = 0;
    float log_probability = 0;  // log-softmax over the allowed tokens, at temperature 1
  };
  // Returns the tokens after the prompt in the sequence of a row.
  virtual std::span<const std::int32_t> tokens(std::size_t row) const { return running_[row].tokens; }
  // Bans all tokens that must not follow `sampled`. `sampled` are the tokens after the prompt.
  void ban(std::span<const std::int32_t> sampled, std::span<float> logits) const;
  // Chooses the next tokens of a row. Banned tokens have the logit kBanned.
  virtual void choose(std::size_t row, std::span<const float> logits, ProcessorScratch& scratch) = 0;
  // Returns `token`, or 0 if `token` is -1 (all tokens are banned). `normalizer` is the log-sum-exp of the logits.
  static Choice choice(std::int32_t token, std::span<const float> logits, float normalizer) {
    token = std::max(token, 0);
    return {token, logits[static_cast<std::size_t>(token)] - normalizer};
  }
  // Appends a chosen token. Returns true if the sequence has ended.
  bool append(const Choice& choice, WindowSequence& sequence) const;
  // Appends the choices to all sequences. Returns true if enough sequences are finished.
  virtual bool extend(Session& session) = 0;
  bool is_end(std::int32_t token) const { return token == settings_.task.tokens().end_of_text; }

  Settings settings_;
  std::size_t group_ = 1;     // number of beams or samples
  std::vector<int> targets_;  // one for each running sequence
  std::vector<WindowSequence> running_ = {{}};
  std::vector<WindowSequence> finished_;
  std::vector<std::vector<Choice>> choices_;  // choices for each row
  std::size_t length_ = 0;                    // number of tokens of each running sequence
};

// Samples above temperature 0. Otherwise runs beam search, or greedy search if beam_size is 1.
std::unique_ptr<WindowAttempt> make_attempt(const WindowAttempt::Settings& settings, int target);

// Bans tokens that must not follow `sampled` (openai/whisper decoding.py, ApplyTimestampRules):
// - The first token is a timestamp of at most `max_initial` seconds.
// - Later timestamps do not decrease. They come in pairs: the end of a segment and the start of the next segment.
// - If all timestamps together are likelier than any other token, the next token is a timestamp.
void apply_timestamp_rules(const WhisperTokens& tokens, std::optional<double> max_initial,
                           std::span<const std::int32_t> sampled, std::span<float> logits);

}  // namespace encdec
