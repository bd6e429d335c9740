#include "encdec/speech/audio/audio_reader.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace encdec {
namespace {

// Skips ID3v2 tags (id3.org), which may precede audio of any format. Returns true if it skipped a tag.
bool skip_id3(AudioInput& input) {
  for (bool found = false;; found = true) {
    const auto head = input.peek(10);
    const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(head[i]); };
    if (head.size() < 10 || byte(0) != 'I' || byte(1) != 'D' || byte(2) != '3') return found;
    // Each of the bytes 6 to 9 holds 7 bits of the size. The size excludes the header and the footer.
    const unsigned footer = byte(5) & 0x10U ? 10 : 0;
    input.skip(head.size() + (byte(6) << 21 | byte(7) << 14 | byte(8) << 7 | byte(9)) + footer);
  }
}

// Opens the decoder for the format that the first bytes indicate.
std::unique_ptr<AudioDecoder> open_decoder(AudioInput input) {
  const bool had_tag = skip_id3(input);
  if (is_plain_wav(input)) return open_wav(std::move(input));
  // After a tag, an unprintable byte is MP3 or padding, because all other formats begin with a letter.
  const auto first = input.peek(1);
  const bool is_mp3_behind = had_tag && !first.empty() && (first[0] < std::byte{' '} || first[0] > std::byte{'~'});
  return is_mp3_behind || is_mp3(input) ? open_mp3(std::move(input)) : open_sound_file(std::move(input));
}

// Sets `mono` to the mean of all channels of each frame.
void mix_channels(std::span<const float> frames, std::size_t channels, std::vector<float>& mono) {
  mono.resize(frames.size() / channels);
  for (std::size_t frame = 0; frame < mono.size(); ++frame) {
    float sum = 0;
    for (std::size_t channel = 0; channel < channels; ++channel) sum += frames[frame * channels + channel];
    mono[frame] = sum / static_cast<float>(channels);
  }
}

}  // namespace

AudioReader::AudioReader(AudioInput input) : AudioReader(open_decoder(std::move(input))) {}

AudioReader::AudioReader(std::unique_ptr<AudioDecoder> decoder)
    : decoder_(std::move(decoder)), resampler_(decoder_->format().sample_rate, kSampleRate) {}

std::size_t AudioReader::read(std::span<float> samples) {
  std::size_t done = 0;
  while (done < samples.size()) {
    if (next_ == ready_.size()) {
      if (is_at_end_) break;
      decode();
      continue;
    }
    const std::size_t count = std::min(samples.size() - done, ready_.size() - next_);
    std::copy_n(ready_.begin() + static_cast<std::ptrdiff_t>(next_), count,
                samples.begin() + static_cast<std::ptrdiff_t>(done));
    next_ += count;
    done += count;
  }
  return done;
}

std::optional<double> AudioReader::seconds() const {
  const AudioFormat& format = decoder_->format();
  if (!format.frames) return std::nullopt;
  return static_cast<double>(*format.frames) / format.sample_rate;
}

// Decodes the next frames into ready_. If the decoder returns fewer frames than requested, the audio has ended.
void AudioReader::decode() {
  const auto channels = static_cast<std::size_t>(decoder_->format().channels);
  frames_.resize(frames_at_once_ * channels);
  const std::size_t count = decoder_->read(frames_);
  mix_channels(std::span(frames_).first(count * channels), channels, mono_);
  ready_.clear();
  next_ = 0;
  resampler_.push(mono_, ready_);
  is_at_end_ = count < frames_at_once_;
  if (is_at_end_) resampler_.finish(ready_);
}

RawAudioStream::RawAudioStream(const RawAudio& raw, std::string name)
    : raw_(checked(raw)), name_(std::move(name)), resampler_(raw.sample_rate, AudioReader::kSampleRate) {}

void RawAudioStream::push(std::span<const std::byte> bytes, std::vector<float>& samples) {
  // Convert the complete frames. Keep the bytes of an incomplete last frame.
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
