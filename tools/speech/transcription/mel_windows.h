#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/speech/features/log_mel.h"
#include "encdec/speech/transcription/recording.h"

namespace encdec {

// Windows of a recording's log-mel frames for Whisper. As in openai/whisper, values are clamped at
// 80 dB below the loudest frame of the recording, so the recording is read twice.
// Order of calls: find_largest+ (reach* window)*
// States:
// 1. Measuring: find_largest() is called until it returns true. The frames of at most 60 s are kept.
// 2. Serving windows: all other functions are called. Windows come in order, from kept frames or a second pass.
class MelWindows {
 public:
  // REQUIRES: `mel` has no samples.
  MelWindows(Recording recording, const LogMel& mel);

  // Reads two more seconds of audio. Returns true at the end of the recording. Throws FileError.
  bool find_largest();

  // Returns the number of 10 ms frames of the recording.
  std::uint64_t frames() const { return samples_ / LogMel::kHop; }
  double seconds() const { return static_cast<double>(samples_) / AudioReader::kSampleRate; }

  // Returns true if all frames for window(first, count, ...) have been read. Otherwise, reads two more seconds.
  bool reach(std::uint64_t first, std::size_t count);
  // Returns [rows, bands]: frames [first, first + count), with silence after the recording's end, then rows of zeros.
  Tensor window(std::uint64_t first, std::size_t count, std::size_t rows);

 private:
  std::uint64_t frames_read() const { return first_ + features_.size() / mel_.bands(); }
  void drop_before(std::uint64_t frame);
  void read();

  Recording recording_;
  LogMel fresh_mel_;  // copy without samples, for the second pass
  LogMel mel_;
  Recording::Read read_;
  bool is_at_end_ = false;
  bool knows_largest_ = false;
  std::vector<float> chunk_;
  std::vector<float> features_;  // frames [first_, frames_read()), not normalised
  std::uint64_t first_ = 0;
  std::uint64_t samples_ = 0;  // length of the recording
  float largest_ = 0;
};

}  // namespace encdec
