#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/speech/audio/audio_decoder.h"
#include "encdec/models/speech/audio/resampler.h"

namespace encdec {

// Sound without a header that comes in pieces of any number of bytes, such as packets, in the form of speech models;
// see AudioReader. Results do not depend on the sizes of the pieces.
// Order of calls: push* finish
class RawAudioStream {
 public:
  // `name` begins every error message. Throws ConfigError if a number is outside the limits of AudioDecoder.
  RawAudioStream(const RawAudio& raw, std::string name);

  // Adds bytes, and appends to `samples` those that are complete now. Throws FileError for a sample that is not finite.
  void push(std::span<const std::byte> bytes, std::vector<float>& samples);
  // Adds frames that are samples already, interleaved. REQUIRES: no bytes of an incomplete frame have been added.
  void push(std::span<const float> frames, std::vector<float>& samples);
  // Appends the remaining samples. Bytes of an incomplete frame are dropped.
  void finish(std::vector<float>& samples);

 private:
  RawAudio raw_;
  std::string name_;
  Resampler resampler_;
  std::vector<std::byte> frame_;  // bytes of the first frame that is not complete
  std::vector<float> frames_, mono_;
};

}  // namespace encdec
