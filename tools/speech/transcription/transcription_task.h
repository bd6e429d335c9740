#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "encdec/speech/transcription/recording_task.h"
#include "encdec/speech/transcription/whisper_facts.h"
#include "encdec/speech/transcription/window.h"

namespace encdec {

// The task of Whisper: the checked options, with the token ids that they stand for.
class TranscriptionTask final : public RecordingTask {
 public:
  // Throws ConfigError for options that are out of range or not supported by the model, and TokenizerError if an option
  // is a text and there is no tokenizer. REQUIRES: `facts` and the objects that `parts` refers to outlive this one.
  TranscriptionTask(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options);

  const WhisperFacts& facts() const { return facts_; }
  const WhisperTokens& tokens() const { return facts_.tokens; }
  // Returns the code of a prompt's language; "en" for an English-only model.
  std::string_view language_code(std::int32_t language) const {
    return tokens().is_multilingual ? tokens().code_of(language) : "en";
  }

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

  double window_seconds() const override {
    return static_cast<double>(facts_.window_frames()) / LogMel::kFramesPerSecond;
  }
  DecodeJob any_window() const override;
  std::unique_ptr<Transcriber> open(Recording recording) const override;

  // Returns the tokens that a transcript starts with: the start token and, for multilingual models, language and task.
  TokenIds start_tokens(std::int32_t language) const;

  // Returns the language; nullopt if it must be detected.
  std::optional<std::int32_t> language() const { return language_; }
  const TokenIds& initial_prompt() const { return initial_prompt_; }
  // Returns the maximum number of tokens of hotwords, and of the text of earlier windows, in a prompt.
  std::size_t max_previous_tokens() const { return static_cast<std::size_t>(facts_.context / 2 - 1); }
  // Returns the maximum number of tokens to generate after a prompt of `prompt` tokens.
  std::size_t max_new_tokens(std::size_t prompt) const;
  std::size_t rows_per_window() const override { return search_rules_->rows_per_source(); }
  const Transformer& network() const { return parts_.network; }

  // Return the tokens banned at every step, and those also banned as the first token.
  const TokenIds& suppressed() const { return suppressed_; }
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

// Make the transcriber of a recording, and the aligner of a recording with its text. Throw FileError.
std::unique_ptr<Transcriber> make_recording_transcriber(const TranscriptionTask& task, Recording recording);
std::unique_ptr<Transcriber> make_recording_aligner(const TranscriptionTask& task, Recording recording);
// Returns the options of an aligner's task: of those given only language and voice activity.
TranscribeOptions alignment_options(const TranscribeOptions& options);

// Make the searches of a task's jobs. A search has written `result` when it is finished.
std::unique_ptr<Search> make_language_search(const TranscriptionTask& task, const DecodeJob& job, int source,
                                             Session& session, std::shared_ptr<TranscriptionTask::Detected> result);
std::unique_ptr<Search> make_window_search(const TranscriptionTask& task, const DecodeJob& job,
                                           const WindowPlace& place, std::int32_t language, int source,
                                           Session& session, std::shared_ptr<DecodedWindow> result);

}  // namespace encdec
