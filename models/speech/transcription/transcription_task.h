#pragma once

#include <memory>
#include <optional>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/speech/features/voice_activity.h"
#include "encdec/models/speech/transcription/timestamp_rules.h"
#include "encdec/models/speech/transcription/whisper_rules.h"
#include "encdec/models/speech/transcription/window.h"

namespace encdec {

// The checked options of one transcribe() call, with the token ids that they stand for. Thread-safe.
class TranscriptionTask {
 public:
  // Throws ConfigError for options that are out of range or not supported by the model, and TokenizerError if an option
  // is a text and there is no tokenizer. REQUIRES: `facts` and the objects that `parts` refers to outlive this one.
  TranscriptionTask(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options);

  const WhisperFacts& facts() const { return facts_; }
  const WhisperTokens& tokens() const { return facts_.tokens; }
  const TranscribeOptions& options() const { return options_; }

  struct Detected {
    std::int32_t language = 0;
    double probability = 0;
  };
  // Makes a job that detects the language of a recording from its first frames. The job writes `result`.
  DecodeJob detection(Tensor frames, std::shared_ptr<Detected> result) const;
  // Makes a job that decodes a window. The prompt contains the previous text `earlier`, cut at the front if it is too
  // long. The job writes `result`.
  DecodeJob window(Tensor frames, const WindowPlace& place, std::int32_t language, const TokenIds& earlier,
                   std::shared_ptr<DecodedWindow> result) const;

  // Makes a job with the size of a window or detection, for use before its frames are known.
  DecodeJob any_window() const;

  // Returns the tokens that a transcript starts with: the start token and, for multilingual models, language and task.
  TokenIds start_tokens(std::int32_t language) const;

  // Returns the voice activity model; null if the whole recording is transcribed.
  const std::shared_ptr<const VoiceActivity>& voice_activity() const { return voice_activity_; }
  // Returns the language; nullopt if it must be detected.
  std::optional<std::int32_t> language() const { return language_; }
  const TokenIds& initial_prompt() const { return initial_prompt_; }
  const WhisperRules& rules() const { return WhisperRules::of(options_.rules); }
  // Returns the options for the words of a window before which the last word ended at `last_speech` seconds.
  WordTimeOptions word_options(double last_speech) const;
  // Returns the maximum number of tokens of hotwords, and of the text of earlier windows, in a prompt.
  std::size_t max_previous_tokens() const { return static_cast<std::size_t>(facts_.context / 2 - 1); }
  // Returns the maximum number of tokens to generate after a prompt of `prompt` tokens.
  std::size_t max_new_tokens(std::size_t prompt) const {
    return rules().max_new_tokens(static_cast<std::size_t>(facts_.context), prompt);
  }
  // Returns the number of sequences (beams or samples) decoded in parallel for a window.
  std::size_t rows_per_window() const { return search_rules_->rows_per_source(); }
  const Transformer& network() const { return parts_.network; }

  // Return the tokens banned at every step, and those also banned as the first token.
  const TokenIds& suppressed() const { return banned_.always; }
  const TokenIds& suppressed_first() const { return banned_.first; }
  const TimestampRules& timestamp_rules() const { return timestamp_rules_; }

 private:
  DecodeJob job(Tensor frames, TokenIds prompt) const;

  ModelParts parts_;
  const WhisperFacts& facts_;
  TranscribeOptions options_;
  std::shared_ptr<const SearchRules> search_rules_;
  std::shared_ptr<const VoiceActivity> voice_activity_;
  std::optional<std::int32_t> language_;
  TokenIds initial_prompt_, hotwords_;
  BannedTokens banned_;
  TimestampRules timestamp_rules_;
};

// Make the searches of a task's jobs. A search has written `result` when it is finished.
std::unique_ptr<Search> make_language_search(const TranscriptionTask& task, const DecodeJob& job, int source,
                                             Session& session, std::shared_ptr<TranscriptionTask::Detected> result);
std::unique_ptr<Search> make_window_search(const TranscriptionTask& task, const DecodeJob& job,
                                           const WindowPlace& place, std::int32_t language, int source,
                                           Session& session, std::shared_ptr<DecodedWindow> result);

}  // namespace encdec
