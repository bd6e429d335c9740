#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/speech/features/log_mel.h"
#include "encdec/models/speech/transcription/recording.h"

namespace encdec {

// The log-mel frames of a recording, window by window, in the form that models are trained on. As by openai/whisper,
// nothing is quieter than 80 dB below the loudest of the whole recording: it is read twice, once for that and once for
// the windows, so that memory does not grow with its length. Order of calls: find_largest()+ (reach()* window())*.
class MelWindows {
 public:
  // `mel` without samples. With `padded_rows`, as by transformers' feature extractor: a recording of at most
  // `padded_rows` frames is followed by silence up to them; at that end or at its own it is mirrored. Throws FileError.
  MelWindows(Recording recording, const LogMel& mel, std::size_t padded_rows = 0);

  // Reads the next two seconds of the recording for its loudest frame. Returns true when all of it has been read;
  // until then nothing else may be called. Throws FileError.
  bool find_largest();

  // Frames of 10 ms that the recording has, with the silence behind it.
  std::uint64_t frames() const { return frames_; }
  // Of these those that hear some of it.
  std::uint64_t sound_frames() const {
    return (samples_ + (frames_ == padded_rows_ ? LogMel::kHop - 1 : 0)) / LogMel::kHop;
  }
  double seconds() const { return static_cast<double>(samples_) / AudioReader::kSampleRate; }

  // Reads the next two seconds, unless window(first, count, ...) needs no more of the recording: then returns true.
  // Keeps no frames before `first`.
  bool reach(std::uint64_t first, std::size_t count);
  // Frames [first, first + count) of the recording, and behind them zeros: [rows, bands]. `first` is never smaller than
  // in the last call.
  Tensor window(std::uint64_t first, std::size_t count, std::size_t rows);
  // The first `rows` frames, the recording being followed by silence.
  Tensor beginning(std::size_t rows);

 private:
  std::uint64_t frames_read() const { return first_ + features_.size() / mel_.bands(); }
  void drop_before(std::uint64_t frame);
  void read(std::vector<float>& features);
  void start_again();
  bool is_padded() const { return heard_ <= padded_rows_ * LogMel::kHop; }

  Recording recording_;
  LogMel fresh_mel_;  // without samples
  LogMel mel_;
  std::size_t padded_rows_;
  Recording::Read read_;
  bool is_at_end_ = false;
  bool knows_largest_ = false;
  std::vector<float> samples_piece_;
  std::vector<float> features_;  // not normalised, from frame first_ on
  std::uint64_t first_ = 0;      // frames before it were dropped
  std::uint64_t frames_ = 0;
  std::uint64_t samples_ = 0;  // of the recording
  std::uint64_t heard_ = 0;    // samples since its beginning
  float largest_ = 0;
};

}  // namespace encdec
