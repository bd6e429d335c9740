#pragma once

#include <string>

#include "encdec/speech/transcription/recording_task.h"

namespace encdec {

// The task of Moonshine and Moonshine Streaming. They have no tokens for times, languages and previous text: a window
// gives at most one segment, with the window's times. Searches are those of transformers' generate().
class MoonshineTask final : public RecordingTask {
 public:
  // Throws ConfigError for options that are out of range or that these models cannot follow. Ignores the temperatures
  // after the first, the thresholds, `patience`, `timestamps` and the options about previous text. Throws
  // TokenizerError if there is no tokenizer. REQUIRES: the objects that `parts` refers to outlive this one.
  MoonshineTask(const ModelParts& parts, const TranscribeOptions& options);

  // Returns the number of samples in the longest window.
  std::size_t window_samples() const;
  // Returns the code of the language, which only names the transcript.
  const std::string& language() const { return language_; }

  // Makes a job that decodes a window of samples. `draft` is a guess of its text, or empty.
  DecodeJob window(std::span<const float> samples, const std::string& draft) const;
  // Returns the text of the best hypothesis as a segment without times, with a space before it. The text may be empty.
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

// Returns where to cut samples in two: the middle of the quietest 0.1 s in their last third. Of equally quiet places
// takes the last. REQUIRES: there are at least 0.3 s.
std::size_t quiet_cut(std::span<const float> samples);

}  // namespace encdec
