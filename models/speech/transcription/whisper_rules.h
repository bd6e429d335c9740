#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/session/session.h"
#include "encdec/models/speech/transcription/transcribe_options.h"
#include "encdec/models/speech/transcription/whisper_facts.h"
#include "encdec/models/speech/transcription/window.h"

namespace encdec {

class TranscriptionTask;

// The tokens that may not be generated.
struct BannedTokens {
  TokenIds not_speech = {};                                // the meaning of -1 in suppress_tokens
  TokenIds always = {};                                    // banned at every step
  TokenIds first = {};                                     // banned as the first token
  std::optional<std::int32_t> max_initial_timestamp = {};  // latest time as the first token, in timestamp steps
};

// The text from which prompts are made.
struct PromptText {
  TokenIds tokens = {};     // the initial prompt and the tokens of all segments
  std::size_t initial = 0;  // number of tokens of the initial prompt
  std::size_t begin = 0;    // prompts contain tokens from this index on

  // Returns the last of these tokens, at most `capacity`; before them, if `with_initial`, the initial prompt.
  TokenIds last(std::size_t capacity, bool with_initial) const;
};

// A text that is being generated for a window.
struct WindowSequence {
  TokenIds tokens = {};    // tokens after the prompt, without the end token
  float sum = 0;           // sum of log-probabilities, end token included
  float score = 0;         // sum of the log-probabilities by which beams are ranked
  std::size_t number = 0;  // number of a sample
  bool has_ended = false;  // the model generated an end token
};

// A window whose text has been cut into segments.
struct FinishedWindow {
  const DecodedWindow& decoded;
  WindowPlace place;
  CutWindow cut;
  std::int32_t language = 0;
  std::uint64_t content_frames = 0;  // frames of the recording
  std::uint64_t seek = 0;            // first frame of the next window
};

// The rules of one of the programs that run Whisper, where they differ. Prompts, search and windows follow them.
// openai_rules.cc and transformers_rules.cc read like their originals. No rules have a state.
class WhisperRules {
 public:
  static const WhisperRules& of(SpeechRules rules);
  virtual ~WhisperRules() = default;

  // Options.
  // Throws ConfigError for an option that these rules do not have.
  virtual void check(const TranscribeOptions& options) const = 0;
  virtual BannedTokens banned(const WhisperFacts& facts, const TranscribeOptions& options) const = 0;

  // Prompts. `context` is the number of positions of the decoder.
  // Returns the maximum number of tokens of hotwords and previous text in a prompt.
  virtual std::size_t max_prompt_text(std::size_t context) const = 0;
  // Returns the maximum number of tokens to generate after a prompt of `prompt` tokens.
  virtual std::size_t max_new_tokens(std::size_t context, std::size_t prompt) const = 0;
  // Returns the previous text for the next prompt, at most `capacity` tokens of `text`.
  virtual TokenIds previous_text(const PromptText& text, std::size_t capacity,
                                 const TranscribeOptions& options) const = 0;
  // Sets where the text of prompts begins: before the first window, and after each window.
  virtual void start(PromptText& text, const TranscribeOptions& options) const = 0;
  virtual void update(PromptText& text, const DecodedWindow& decoded, const TranscribeOptions& options) const = 0;

  // Search. Scores are log-probabilities.
  // Returns the normalizer of the scores by which beams are ranked, given log-sum-exps of the logits.
  virtual float rank_normalizer(float of_all, float of_allowed) const = 0;
  // Returns the number of continuations of each beam to look at.
  virtual std::size_t candidates(std::size_t beams) const = 0;
  // Returns whether beams that reach the length limit count as finished.
  virtual bool finishes_at_limit() const = 0;
  // Returns whether to keep a finished sequence whose rank among all candidates is `rank`, when `finished` are kept.
  virtual bool keeps(std::size_t rank, std::size_t finished, const TranscribeOptions& options) const = 0;
  // Returns whether beam search is over. May drop sequences from `finished`. `running` has the best first.
  virtual bool is_over(std::vector<WindowSequence>& finished, std::span<const WindowSequence> running,
                       const TranscribeOptions& options) const = 0;
  // Returns a score that is comparable between lengths.
  virtual double final_score(const WindowSequence& sequence, const TranscribeOptions& options) const = 0;
  // Returns the number of tokens for the mean log-probability.
  virtual std::size_t counted_tokens(const WindowSequence& sequence) const = 0;
  // Returns the bytes whose compression ratio counts.
  virtual std::string compressed(const WindowSequence& sequence, const TranscriptionTask& task) const = 0;

  // Windows.
  // Returns the number of frames to which a shorter recording is padded with silence.
  virtual std::size_t padded_frames(const WhisperFacts& facts) const = 0;
  // Reads the times of words or tokens into `decoded`; see word_timestamps.
  virtual void read_times(Session& session, int source, const TranscriptionTask& task, std::int32_t language,
                          const WindowPlace& place, const TokenIds& prompt, DecodedWindow& decoded) const = 0;
  virtual CutWindow cut(const DecodedWindow& decoded, const WindowPlace& place, const WhisperTokens& tokens) const = 0;
  // Adds words to the segments, and moves `seek` to the end of the speech. `last_speech` is the end of the last word so
  // far, in seconds. Returns false if the segments are to be dropped.
  virtual bool add_words(FinishedWindow& window, const TranscriptionTask& task, double& last_speech) const = 0;
  // Makes a segment final. Returns the number of its tokens that later prompts contain.
  virtual std::size_t close(TranscriptSegment& segment, const WhisperTokens& tokens) const = 0;
};

// For WhisperRules::of().
const WhisperRules& openai_rules();
const WhisperRules& transformers_rules();

}  // namespace encdec
