#include "encdec/models/speech/audio/audio_decoder.h"

#include <cmath>

#include "encdec/engine/base/refuse.h"

namespace encdec {

AudioFormat AudioDecoder::checked_format(const std::string& name, std::int64_t sample_rate, std::int64_t channels) {
  if (channels < 1 || channels > kMaxChannels) refuse(name, "{} channels, expected 1 to {}", channels, kMaxChannels);
  if (sample_rate < kMinSampleRate || sample_rate > kMaxSampleRate) {
    refuse(name, "{} samples a second, expected {} to {}", sample_rate, kMinSampleRate, kMaxSampleRate);
  }
  return {.sample_rate = static_cast<int>(sample_rate), .channels = static_cast<int>(channels)};
}

void AudioDecoder::check_samples(const std::string& name, std::span<const float> samples) {
  for (const float sample : samples) {
    if (!std::isfinite(sample)) refuse(name, "a sample is {}, expected a number", sample);
  }
}

}  // namespace encdec
