#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/models/generation/search.h"
#include "encdec/models/speech/transcription/transcription_task.h"
#include "encdec/models/speech/transcription/whisper_rules.h"

namespace encdec {

// One attempt at a window's text, at one temperature: greedy, beam search or samples. In the first step one row stands
// for all sequences.
// Order of calls: (add_inputs choose+ advance)+ (finish | close)
class WindowAttempt {
 public:
  struct Settings {
    const TranscriptionTask& task;
    std::span<const std::int32_t> prompt;  // the rest of the prompt, which the first step reads
    std::size_t max_new_tokens = 0;
    double temperature = 0;
    RandomKey random;  // key of the attempt
  };
  // `target` has read the prompt before Settings::prompt.
  WindowAttempt(const Settings& settings, int target);
  virtual ~WindowAttempt() = default;

  void add_inputs(std::vector<Session::TargetTokens>& inputs) const;
  // Returns the tokens of a row's sequence so far.
  const TokenIds& tokens(std::size_t row) const { return running_[row].tokens; }
  bool is_first_step() const { return length_ == 0; }
  std::size_t length() const { return length_; }

  // Chooses the next tokens of a row from logits in which tokens have been banned. `of_all` is the log-sum-exp of the
  // logits before that.
  virtual void choose(std::size_t row, std::span<const float> logits, float of_all, ProcessorScratch& scratch) = 0;
  // Appends the tokens chosen. Returns true if the attempt is over.
  bool advance(Session& session);
  // Closes all targets and returns the best sequence.
  WindowSequence finish(Session& session);
  void close(Session& session);

 protected:
  struct Choice {
    std::int32_t token = 0;
    float log_probability = 0;  // log-softmax over the allowed tokens, at temperature 1
    float score = 0;            // by which beams are ranked
  };
  // Returns the choice of `token`; of token 0 for -1, which means that all tokens are banned.
  Choice choice(std::int32_t token, std::span<const float> logits, float of_all, float of_allowed) const;
  // Returns true if no more sequences are needed.
  virtual bool extend(Session& session) = 0;
  bool is_last_step() const { return length_ + 1 >= settings_.max_new_tokens; }
  bool is_end(std::int32_t token) const { return token == settings_.task.tokens().end_of_text; }

  Settings settings_;
  std::size_t group_ = 1;     // number of beams or samples
  std::vector<int> targets_;  // by running sequence
  std::vector<WindowSequence> running_ = {{}};
  std::vector<WindowSequence> finished_;
  std::vector<std::vector<Choice>> choices_;  // by row

 private:
  std::size_t length_ = 0;  // number of tokens of each running sequence
};

// Returns an attempt for the temperature: beam search at 0 if beam_size is above 1, otherwise greedy search or samples.
std::unique_ptr<WindowAttempt> make_attempt(const WindowAttempt::Settings& settings, int target);
std::unique_ptr<WindowAttempt> make_beam_attempt(const WindowAttempt::Settings& settings, int target);
std::unique_ptr<WindowAttempt> make_sample_attempt(const WindowAttempt::Settings& settings, int target);

}  // namespace encdec
