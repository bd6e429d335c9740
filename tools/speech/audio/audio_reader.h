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

// A reader of audio in the form of speech models: 16,000 samples per second, one channel (the mean of all channels).
// Decodes while it is read, so that a recording of any length takes little memory.
class AudioReader {
 public:
  static constexpr int kSampleRate = 16'000;

  // Opens a file. Its contents decide the format. Throws FileError, AudioFormatError if no decoder reads the format.
  static AudioReader open(const std::string& path) { return AudioReader(AudioInput(open_bytes(path), path)); }
  // Decodes audio from any byte source. Throws as open() does.
  explicit AudioReader(AudioInput input);
  explicit AudioReader(std::unique_ptr<AudioDecoder> decoder);

  // Makes read() decode 20 ms at a time: sound that is being recorded does not wait for more.
  void read_live() { frames_at_once_ = static_cast<std::size_t>(decoder_->format().sample_rate) / 50; }

  // Fills `samples` and returns the number of samples read, which is smaller only at the end. Throws FileError.
  std::size_t read(std::span<float> samples);

  // Returns the duration; nullopt if the file does not say.
  std::optional<double> seconds() const;
  // See AudioDecoder::is_cut().
  bool is_cut() const { return decoder_->is_cut(); }

 private:
  void decode();

  std::unique_ptr<AudioDecoder> decoder_;
  Resampler resampler_;
  std::size_t frames_at_once_ = 4096;
  std::vector<float> frames_, mono_;
  std::vector<float> ready_;  // resampled; read() has returned those before next_
  std::size_t next_ = 0;
  bool is_at_end_ = false;
};

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
