#include "encdec/models/speech/audio/raw_audio_stream.h"

#include <utility>

#include "encdec/models/speech/audio/audio_reader.h"

namespace encdec {

RawAudioStream::RawAudioStream(const RawAudio& raw, std::string name)
    : raw_(checked(raw)), name_(std::move(name)), resampler_(raw.sample_rate, AudioReader::kSampleRate) {}

void RawAudioStream::push(std::span<const std::byte> bytes, std::vector<float>& samples) {
  const auto channels = static_cast<std::size_t>(raw_.channels), frame = channels * sample_bytes(raw_.samples);
  frame_.insert(frame_.end(), bytes.begin(), bytes.end());
  const std::size_t count = frame_.size() / frame;
  frames_.resize(count * channels);
  convert(raw_.samples, frame_, frames_);
  frame_.erase(frame_.begin(), frame_.begin() + static_cast<std::ptrdiff_t>(count * frame));
  push(frames_, samples);
}

void RawAudioStream::push(std::span<const float> frames, std::vector<float>& samples) {
  AudioDecoder::check_samples(name_, frames);
  mix_channels(frames, static_cast<std::size_t>(raw_.channels), mono_);
  resampler_.push(mono_, samples);
}

void RawAudioStream::finish(std::vector<float>& samples) {
  frame_.clear();
  resampler_.finish(samples);
}

}  // namespace encdec
