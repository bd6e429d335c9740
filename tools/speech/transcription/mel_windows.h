#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/speech/features/log_mel.h"
#include "encdec/speech/transcription/recording.h"

namespace encdec {

// The log-mel frames of a recording in windows, in the form that models are trained on. As in openai/whisper, values
// are clamped at 80 dB below the loudest frame of the whole recording. So the recording is read twice: once for its
// loudest frame, once for the windows. Memory does not grow with its length.
// Order of calls: find_largest+ (reach* window)*
// States:
// 1. Measuring, until find_largest() returns true: reads the whole recording for its loudest frame. Keeps the frames if
//    there are at most 6,000 (60 s).
// 2. Serving windows: takes frames from those kept, or reads the recording again from its beginning. Drops the frames
//    before the current window. All functions except find_largest() need this state.
class MelWindows {
 public:
  // Throws FileError. REQUIRES: `mel` has no samples.
  MelWindows(Recording recording, const LogMel& mel);

  // Reads the next two seconds of the recording for its loudest frame. Returns true when all of the recording has been
  // read. Throws FileError.
  bool find_largest();

  // Returns the number of 10 ms frames of the recording.
  std::uint64_t frames() const { return samples_ / LogMel::kHop; }
  double seconds() const { return static_cast<double>(samples_) / AudioReader::kSampleRate; }

  // Returns true if all frames for window(first, count, ...) have been read; otherwise reads two more seconds and
  // returns false. Drops the frames before `first`.
  bool reach(std::uint64_t first, std::size_t count);
  // Returns frames [first, first + count) of the recording, followed by zeros: [rows, bands]. Frames after its end are
  // silence. Reads the samples that are missing.
  // REQUIRES: `first` is not smaller than in earlier calls of reach() and window().
  Tensor window(std::uint64_t first, std::size_t count, std::size_t rows);

 private:
  std::uint64_t frames_read() const { return first_ + features_.size() / mel_.bands(); }
  void drop_before(std::uint64_t frame);
  void read();

  Recording recording_;
  LogMel fresh_mel_;  // copied to start a new pass
  LogMel mel_;
  Recording::Read read_;
  bool is_at_end_ = false;
  bool knows_largest_ = false;
  std::vector<float> samples_piece_;
  std::vector<float> features_;  // frames from first_ on, not normalised
  std::uint64_t first_ = 0;
  std::uint64_t samples_ = 0;  // length of the recording
  float largest_ = 0;
};

}  // namespace encdec
