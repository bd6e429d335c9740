#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/speech/audio/audio_decoder.h"
#include "encdec/speech/audio/resampler.h"

namespace encdec {

// Reads audio as speech models expect it: 16,000 samples per second, one channel (the mean of all
// channels). Decodes on demand, so memory does not grow with the length of the audio.
class AudioReader {
 public:
  static constexpr int kSampleRate = 16'000;

  // Detects the format from the contents. Throws FileError and AudioFormatError.
  static AudioReader open(const std::string& path) { return AudioReader(AudioInput(open_bytes(path), path)); }
  explicit AudioReader(AudioInput input);
  explicit AudioReader(std::unique_ptr<AudioDecoder> decoder);

  // Makes read() decode only 20 ms at a time, for low latency while audio is being recorded.
  void read_live() { frames_at_once_ = static_cast<std::size_t>(decoder_->format().sample_rate) / 50; }

  // Fills `samples`. Returns the number of samples read, which is smaller only at the end. Throws FileError.
  std::size_t read(std::span<float> samples);

  // Returns nullopt if the file does not state its length.
  std::optional<double> seconds() const;
  // See AudioDecoder::is_cut().
  bool is_cut() const { return decoder_->is_cut(); }

 private:
  void decode();

  std::unique_ptr<AudioDecoder> decoder_;
  Resampler resampler_;
  std::size_t frames_at_once_ = 4096;
  std::vector<float> frames_, mono_;
  std::vector<float> ready_;  // resampled samples
  std::size_t next_ = 0;      // index in ready_ of the next sample to return
  bool is_at_end_ = false;
};

// Converts RawAudio like AudioReader, chunk by chunk. Results do not depend on chunk sizes.
// Order of calls: push* finish
class RawAudioStream {
 public:
  // Every error message begins with `name`. Throws ConfigError like checked().
  RawAudioStream(const RawAudio& raw, std::string name);

  // Appends all samples that can be computed now. Throws FileError if a sample is NaN or infinite.
  void push(std::span<const std::byte> bytes, std::vector<float>& samples);
  // Adds interleaved float frames. REQUIRES: push() with bytes has left no incomplete frame.
  void push(std::span<const float> frames, std::vector<float>& samples);
  // Appends the remaining samples. Drops an incomplete frame.
  void finish(std::vector<float>& samples);

 private:
  RawAudio raw_;
  std::string name_;
  Resampler resampler_;
  std::vector<std::byte> frame_;  // bytes of an incomplete frame
  std::vector<float> frames_, mono_;
};

}  // namespace encdec
