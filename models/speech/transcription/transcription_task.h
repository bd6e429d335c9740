#pragma once

#include <memory>
#include <optional>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/speech/features/voice_activity.h"
#include "encdec/models/speech/transcription/timestamp_rules.h"
#include "encdec/models/speech/transcription/window.h"

namespace encdec {

// What a call asks of each of its recordings, checked and looked up: read-only, for many threads at once.
class TranscriptionTask {
 public:
  // What the model is of must outlive it. Throws ConfigError for options that are out of range or not supported by the
  // model, TokenizerError where texts are given and there is no tokenizer.
  TranscriptionTask(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options);

  const WhisperFacts& facts() const { return facts_; }
  const WhisperTokens& tokens() const { return facts_.tokens; }
  const TranscribeOptions& options() const { return options_; }

  // Tells the language of the recording that frames are the beginning of.
  struct Detected {
    std::int32_t language = 0;
    double probability = 0;
  };
  DecodeJob detection(Tensor frames, std::shared_ptr<Detected> result) const;
  // Decodes a window with a prompt of earlier text, of which the last tokens are told, as many as fit.
  DecodeJob window(Tensor frames, const WindowPlace& place, std::int32_t language, const TokenIds& earlier,
                   std::shared_ptr<DecodedWindow> result) const;

  // A window or detection of which only the size is known.
  DecodeJob any_window() const;

  // What a transcript begins with: its start and, to multilingual models, the language and the task.
  TokenIds start_tokens(std::int32_t language) const;

  // Null where all of a recording is heard.
  const std::shared_ptr<const VoiceActivity>& voice_activity() const { return voice_activity_; }
  // nullopt: to be detected.
  std::optional<std::int32_t> language() const { return language_; }
  const TokenIds& initial_prompt() const { return initial_prompt_; }
  SpeechRules speech_rules() const { return options_.rules; }
  // Tokens of earlier text that a window may be told.
  std::size_t most_earlier() const { return static_cast<std::size_t>(facts_.context / 2 - 1); }
  // Tokens that may be sampled behind a prompt.
  std::size_t most_sampled(std::size_t prompt) const;
  // Sequences that are decoded side by side for a window.
  std::size_t rows_per_window() const { return rules_->rows_per_source(); }
  const Transformer& network() const { return parts_.network; }

  // Of searches: what may not come, ever and at first.
  const TokenIds& suppressed() const { return suppressed_; }
  const TokenIds& suppressed_first() const { return suppressed_first_; }
  const TimestampRules& timestamp_rules() const { return timestamp_rules_; }

 private:
  DecodeJob job(Tensor frames, TokenIds prompt) const;

  ModelParts parts_;
  const WhisperFacts& facts_;
  TranscribeOptions options_;
  std::shared_ptr<const SearchRules> rules_;
  std::shared_ptr<const VoiceActivity> voice_activity_;
  std::optional<std::int32_t> language_;
  TokenIds initial_prompt_, hotwords_;
  TokenIds suppressed_, suppressed_first_;
  TimestampRules timestamp_rules_;
};

// The searches of its jobs. `result` is written when they are finished.
std::unique_ptr<Search> make_language_search(const TranscriptionTask& task, const DecodeJob& job, int source,
                                             Session& session, std::shared_ptr<TranscriptionTask::Detected> result);
std::unique_ptr<Search> make_window_search(const TranscriptionTask& task, const DecodeJob& job,
                                           const WindowPlace& place, std::int32_t language, int source,
                                           Session& session, std::shared_ptr<DecodedWindow> result);

}  // namespace encdec
