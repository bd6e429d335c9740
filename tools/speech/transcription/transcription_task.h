#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "encdec/speech/transcription/recording_task.h"
#include "encdec/speech/transcription/whisper_facts.h"
#include "encdec/speech/transcription/window.h"

namespace encdec {

// The task for Whisper: checked options, and the token ids that they require.
class TranscriptionTask final : public RecordingTask {
 public:
  // Throws ConfigError if an option is out of range or not supported, and TokenizerError if texts are
  // given without a tokenizer. REQUIRES: `facts` and the objects in `parts` outlive this object.
  TranscriptionTask(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options);

  const WhisperFacts& facts() const { return facts_; }
  const WhisperTokens& tokens() const { return facts_.tokens; }
  // Returns "en" for an English-only model.
  std::string_view language_code(std::int32_t language) const {
    return tokens().is_multilingual ? tokens().code_of(language) : "en";
  }

  struct Detected {
    std::int32_t language = 0;
    double probability = 0;
  };
  // Makes a job that detects the language from the first frames. The job sets `result`.
  DecodeJob detection(Tensor frames, std::shared_ptr<Detected> result) const;
  // Makes a job that decodes a window and sets `result`. Truncates `earlier`, the previous text, if it is too long.
  DecodeJob window(Tensor frames, const WindowPosition& position, std::int32_t language, const TokenIds& earlier,
                   std::shared_ptr<DecodedWindow> result) const;

  double window_seconds() const override {
    return static_cast<double>(facts_.window_frames()) / LogMel::kFramesPerSecond;
  }
  DecodeJob any_window() const override;
  std::unique_ptr<Transcriber> open(Recording recording) const override;

  // Returns the start token. If the model is multilingual, the tokens of language and task follow.
  TokenIds start_tokens(std::int32_t language) const;

  // Returns nullopt if the language must be detected.
  std::optional<std::int32_t> language() const { return language_; }
  const TokenIds& initial_prompt() const { return initial_prompt_; }
  // Returns the maximum number of tokens of hotwords and previous text together.
  std::size_t max_previous_tokens() const { return static_cast<std::size_t>(facts_.context / 2 - 1); }
  // Returns the maximum number of tokens to generate after `prompt` prompt tokens.
  std::size_t max_new_tokens(std::size_t prompt) const;
  std::size_t rows_per_window() const override { return search_rules_->rows_per_source(); }
  const Transformer& network() const { return parts_.network; }

  // Returns the tokens that must not be generated.
  const TokenIds& suppressed() const { return suppressed_; }
  // Returns the tokens that must not be generated as the first token.
  const TokenIds& suppressed_first() const { return suppressed_first_; }

 private:
  DecodeJob job(Tensor frames, TokenIds prompt) const;

  ModelParts parts_;
  const WhisperFacts& facts_;
  std::shared_ptr<const SearchRules> search_rules_;
  std::optional<std::int32_t> language_;
  TokenIds initial_prompt_, hotwords_;
  TokenIds suppressed_, suppressed_first_;
};

// These functions throw FileError. An aligner requires a task with alignment_options().
std::unique_ptr<Transcriber> make_recording_transcriber(const TranscriptionTask& task, Recording recording);
std::unique_ptr<Transcriber> make_recording_aligner(const TranscriptionTask& task, Recording recording);
// Copies only language and voice activity from `options`.
TranscribeOptions alignment_options(const TranscribeOptions& options);

// These functions make the search of a job. The search sets `result` before it finishes.
std::unique_ptr<Search> make_language_search(const TranscriptionTask& task, const DecodeJob& job, int source,
                                             Session& session, std::shared_ptr<TranscriptionTask::Detected> result);
std::unique_ptr<Search> make_window_search(const TranscriptionTask& task, const DecodeJob& job,
                                           const WindowPosition& position, std::int32_t language, int source,
                                           Session& session, std::shared_ptr<DecodedWindow> result);

}  // namespace encdec
