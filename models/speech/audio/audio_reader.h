#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/speech/audio/audio_decoder.h"
#include "encdec/models/speech/audio/resampler.h"

namespace encdec {

// A recording as speech models hear it: one channel (the mean of all) of 16,000 samples a second. Reads as it is asked,
// so a recording of any length takes little memory.
class AudioReader {
 public:
  static constexpr int kSampleRate = 16'000;

  // A file, by what is in it. Throws FileError.
  static AudioReader open(const std::string& path) { return AudioReader(AudioInput(open_bytes(path), path)); }
  // Of any bytes.
  explicit AudioReader(AudioInput input);
  explicit AudioReader(std::unique_ptr<AudioDecoder> decoder);

  // Fewer only at the end. Throws FileError.
  std::size_t read(std::span<float> samples);
  // All that is left.
  std::vector<float> read_all();

  // As far as the recording says.
  std::optional<double> seconds() const;
  // The file ended before its time.
  bool is_cut() const { return decoder_->is_cut(); }

 private:
  void decode();

  std::unique_ptr<AudioDecoder> decoder_;
  Resampler resampler_;
  std::vector<float> frames_, mono_;
  std::vector<float> ready_;  // samples from next_ on
  std::size_t next_ = 0;
  bool is_at_end_ = false;
};

}  // namespace encdec
