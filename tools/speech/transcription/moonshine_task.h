#pragma once

#include <string>

#include "encdec/speech/transcription/recording_task.h"

namespace encdec {

// The task for Moonshine, whose models have no tokens for timestamps, languages and previous text.
// So a window results in at most one segment, with the window's times. The search is the same as in transformers.
class MoonshineTask final : public RecordingTask {
 public:
  // Ignores all temperatures except the first, thresholds, `patience`, `timestamps` and options about previous
  // text. Throws ConfigError if an option is out of range or not supported, and TokenizerError if there is no
  // tokenizer. REQUIRES: the objects in `parts` outlive this object.
  MoonshineTask(const ModelParts& parts, const TranscribeOptions& options);

  // Returns the maximum number of samples in a window.
  std::size_t window_samples() const;
  // Returns the language code for transcripts. Only the token limit of decoding depends on the language.
  const std::string& language() const { return language_; }

  // Makes a job that decodes a window. `draft` is the expected text, for draft tokens; may be empty.
  DecodeJob window(std::span<const float> samples, const std::string& draft) const;
  // Returns the best hypothesis as a segment without times. The text of the segment starts with a space, or is empty.
  TranscriptSegment segment(std::vector<Hypothesis> hypotheses) const;

  double window_seconds() const override { return static_cast<double>(window_samples()) / AudioReader::kSampleRate; }
  std::size_t rows_per_window() const override;
  DecodeJob any_window() const override;
  std::unique_ptr<Transcriber> open(Recording recording) const override;

 private:
  GenerateOptions search(std::size_t samples) const;

  ModelParts parts_;
  std::string language_ = "en";
};

// Returns the middle of the quietest 0.1 s in the last third of `samples`. REQUIRES: at least 0.3 s of samples.
std::size_t quiet_split(std::span<const float> samples);

}  // namespace encdec
