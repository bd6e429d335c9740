#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "encdec/models/speech/transcription/moonshine_task.h"

namespace encdec {

// A transcriber for MoonshineTask. A recording of at most MoonshineTask::window_samples() is one window. A longer one
// is cut by quiet_cut() again and again; the windows do not depend on each other.
class MoonshineTranscriber final : public Transcriber {
 public:
  // Throws FileError.
  MoonshineTranscriber(const MoonshineTask& task, Recording recording);

  std::optional<DecodeJob> next() override;
  std::vector<TranscriptSegment> finish(std::vector<Hypothesis> hypotheses) override;
  double seconds_done() const override { return restored(seconds_of(done_)); }
  Transcript transcript() const override;

 private:
  static double seconds_of(std::uint64_t samples) { return static_cast<double>(samples) / AudioReader::kSampleRate; }
  void open(Recording recording) override;
  bool read_window() override;

  const MoonshineTask& task_;
  Recording::Read read_;
  std::string draft_;
  std::function<Tensor(std::span<const float> samples)> encode_;  // Recording::encode
  std::vector<float> samples_;                                    // samples that are in no window yet
  std::uint64_t done_ = 0;                                        // number of samples in windows
  std::size_t window_ = 0;                                        // samples in the current window
  bool is_at_end_ = false;
  std::string text_;
  std::size_t segment_count_ = 0;
};

}  // namespace encdec
