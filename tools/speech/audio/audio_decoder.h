#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "encdec/engine/base/error.h"
#include "encdec/speech/audio/audio_input.h"

namespace encdec {

// A file is not audio, or not audio in a format that this build reads.
struct AudioFormatError : FileError {
  using FileError::FileError;
};

// The format of a recording.
struct AudioFormat {
  int sample_rate = 0;                       // frames per second
  int channels = 0;                          // samples per frame
  std::optional<std::uint64_t> frames = {};  // number of frames; unset if the file does not say
};

// A decoder from an audio file to its samples, in the file's sample rate and channels.
class AudioDecoder {
 public:
  static constexpr int kMinSampleRate = 2'000;
  static constexpr int kMaxSampleRate = 768'000;
  static constexpr int kMaxChannels = 64;

  virtual ~AudioDecoder() = default;
  const AudioFormat& format() const { return format_; }
  // Fills `samples` with whole frames and returns their number, which is smaller than asked for only at the end.
  // Samples are from -1 to 1 unless they were recorded louder. Throws FileError.
  virtual std::size_t read(std::span<float> samples) = 0;
  // Returns whether the file ended before its stated length or within a frame. Known after the last frame was read.
  bool is_cut() const { return is_cut_; }

  // Throw FileError, beginning with `name`, for a format outside the limits above and for a sample that is not finite.
  static AudioFormat checked_format(const std::string& name, std::int64_t sample_rate, std::int64_t channels);
  static void check_samples(const std::string& name, std::span<const float> samples);

 protected:
  AudioFormat format_;
  bool is_cut_ = false;
};

// Returns whether the input begins as RIFF WAVE, RF64 or BW64 (Microsoft's and IBM's Multimedia Programming Interface
// 1.0; EBU Tech 3306; ITU-R BS.2088) with samples that open_wav() reads. Throws FileError for a damaged 'fmt '.
bool is_plain_wav(AudioInput& input);
// Opens WAV with integers of 8 to 32 bits, floats of 32 or 64 bits, A-law or mu-law, also as WAVE_FORMAT_EXTENSIBLE. If
// the stated size is 0 or all ones, reads to the end of the input. Throws AudioFormatError for a compressed file,
// FileError for a damaged one.
std::unique_ptr<AudioDecoder> open_wav(AudioInput input);

// Returns whether the input begins as MPEG-1 or MPEG-2 audio, layers I to III. Returns false in a build without
// libmpg123.
bool is_mp3(AudioInput& input);
// Opens MPEG audio. Throws FileError, perhaps from the first read(), if the input contains none.
std::unique_ptr<AudioDecoder> open_mp3(AudioInput input);

// Opens a file with libsndfile: FLAC, Ogg Vorbis and Opus, AIFF, WAV with GSM or ADPCM and more. Throws
// AudioFormatError if libsndfile cannot read it, and in a build without libsndfile.
std::unique_ptr<AudioDecoder> open_sound_file(AudioInput input);

// Format of samples without a header.
struct RawAudio {
  enum class Samples : std::uint8_t { uint8, int16, int24, int32, float32, float64, a_law, mu_law };  // little endian

  Samples samples = Samples::int16;
  int sample_rate = 16'000;
  int channels = 1;
};
// Returns the argument. Throws ConfigError if a number is outside the limits of AudioDecoder.
const RawAudio& checked(const RawAudio& raw);
std::size_t sample_bytes(RawAudio::Samples samples);
// Converts bytes to samples. REQUIRES: there are sample_bytes() for each sample.
void convert(RawAudio::Samples from, std::span<const std::byte> bytes, std::span<float> samples);
// Opens samples without a header. Throws as checked() does.
std::unique_ptr<AudioDecoder> open_raw(AudioInput input, const RawAudio& raw);

}  // namespace encdec
