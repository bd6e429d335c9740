#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "encdec/models/speech/audio/audio_input.h"

namespace encdec {

// What a recording is made of.
struct AudioFormat {
  int sample_rate = 0;                       // frames a second
  int channels = 0;                          // samples a frame
  std::optional<std::uint64_t> frames = {};  // as far as it says
};

// The samples of a recording as they were recorded.
class AudioDecoder {
 public:
  static constexpr int kMinSampleRate = 2'000;
  static constexpr int kMaxSampleRate = 768'000;
  static constexpr int kMaxChannels = 64;

  virtual ~AudioDecoder() = default;
  virtual const AudioFormat& format() const = 0;
  // Whole frames, one after the other, each sample from -1 to 1 unless it was recorded louder; fewer only at the end.
  // How many frames. Throws FileError.
  virtual std::size_t read(std::span<float> samples) = 0;
  // The file ended before its time.
  virtual bool is_cut() const { return false; }

 protected:
  // What every recording keeps to. Throw FileError, which begins with `name`.
  static AudioFormat checked_format(const std::string& name, std::int64_t sample_rate, std::int64_t channels);
  static void check_samples(const std::string& name, std::span<const float> samples);
};

// RIFF WAVE, RF64 and BW64 (Microsoft's and IBM's Multimedia Programming Interface 1.0; EBU Tech 3306; ITU-R BS.2088):
// integers of 8 to 32 bits, floats of 32 and 64, A-law and mu-law, WAVE_FORMAT_EXTENSIBLE too. A size of 0 or of all
// ones is that of a stream: it goes to the end. Whether the input begins as one.
bool is_wav(AudioInput& input);
// Whether the input is one that open_wav() decodes; others of that kind are compressed. Throws FileError where it is
// damaged.
std::unique_ptr<AudioDecoder> open_wav(AudioInput input);

// MPEG-1 and 2 audio, layers I to III, with an ID3 tag or without. Whether the input begins as such; never where this
// build lacks libmpg123.
bool is_mp3(AudioInput& input);
// Throws FileError where there is no sound in it.
std::unique_ptr<AudioDecoder> open_mp3(AudioInput input);

// What libsndfile decodes: FLAC, Ogg Vorbis and Opus, AIFF and more. Throws FileError, also where this build has it
// not.
std::unique_ptr<AudioDecoder> open_sound_file(AudioInput input);

// Samples without a header.
struct RawAudio {
  enum class Samples : std::uint8_t { int16, float32 };  // little endian

  Samples samples = Samples::int16;
  int sample_rate = 16'000;
  int channels = 1;
};
// Throws ConfigError for what no recording has.
std::unique_ptr<AudioDecoder> open_raw(AudioInput input, const RawAudio& raw);

}  // namespace encdec
