#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "encdec/engine/base/error.h"
#include "encdec/speech/audio/audio_input.h"

namespace encdec {

// Thrown for a file that is not audio, or whose format this build does not read.
struct AudioFormatError : FileError {
  using FileError::FileError;
};

struct AudioFormat {
  int sample_rate = 0;                       // frames per second
  int channels = 0;                          // samples per frame
  std::optional<std::uint64_t> frames = {};  // unset if the file does not state its length
};

// Decodes an audio file, without changing its sample rate and channels.
class AudioDecoder {
 public:
  static constexpr int kMinSampleRate = 2'000;
  static constexpr int kMaxSampleRate = 768'000;
  static constexpr int kMaxChannels = 64;

  virtual ~AudioDecoder() = default;
  const AudioFormat& format() const { return format_; }
  // Fills `samples` with whole frames. Returns the number of frames, which is smaller only at the end of the file.
  // Samples are usually from -1 to 1. Throws FileError.
  virtual std::size_t read(std::span<float> samples) = 0;
  // Returns true if the file ended before its stated length or within a frame. Valid only at the end.
  bool is_cut() const { return is_cut_; }

  // These functions throw FileError if a value is outside the limits or not finite. The message begins with `name`.
  static AudioFormat checked_format(const std::string& name, std::int64_t sample_rate, std::int64_t channels);
  static void check_samples(const std::string& name, std::span<const float> samples);

 protected:
  AudioFormat format_;
  bool is_cut_ = false;
};

// Returns true if open_wav() can read the input: RIFF WAVE, RF64 or BW64 (Microsoft's and IBM's
// Multimedia Programming Interface 1.0; EBU Tech 3306; ITU-R BS.2088) without compression. Throws
// FileError for a damaged 'fmt '.
bool is_plain_wav(AudioInput& input);
// Opens WAV with integers of 8 to 32 bits, floats, A-law or mu-law. If the stated size is 0 or all
// ones, reads to the end. Throws AudioFormatError for compressed audio.
std::unique_ptr<AudioDecoder> open_wav(AudioInput input);

// Returns true if the input begins like MPEG-1 or MPEG-2 audio. Without libmpg123, returns false.
bool is_mp3(AudioInput& input);
// Opens MPEG audio. If the input is not MPEG audio, this function or the first read() throws FileError.
std::unique_ptr<AudioDecoder> open_mp3(AudioInput input);

// Opens FLAC, Ogg, AIFF, compressed WAV and more with libsndfile. Throws AudioFormatError for
// formats that libsndfile cannot read, and without libsndfile.
std::unique_ptr<AudioDecoder> open_sound_file(AudioInput input);

// Samples without a header.
struct RawAudio {
  enum class Samples : std::uint8_t { uint8, int16, int24, int32, float32, float64, a_law, mu_law };  // little endian

  Samples samples = Samples::int16;
  int sample_rate = 16'000;
  int channels = 1;
};
// Returns `raw`. Throws ConfigError if a value is outside the limits of AudioDecoder.
const RawAudio& checked(const RawAudio& raw);
std::size_t sample_bytes(RawAudio::Samples samples);
// REQUIRES: `bytes` has sample_bytes() bytes for each of `samples`.
void convert(RawAudio::Samples from, std::span<const std::byte> bytes, std::span<float> samples);
// Throws ConfigError like checked().
std::unique_ptr<AudioDecoder> open_raw(AudioInput input, const RawAudio& raw);

}  // namespace encdec
