// Reads WAV. libsndfile gives bitwise identical samples at the same speed, but this reader
// - works in a build without libsndfile,
// - reads a pipe while another program writes to it; libsndfile needs all bytes first, because it seeks,
// - reads a file whose recorder has left the size at 0; libsndfile finds no samples in such a file.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/speech/audio/audio_decoder.h"

namespace encdec {
namespace {

using Encoding = RawAudio::Samples;

static_assert(std::endian::native == std::endian::little);

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t position) {
  T number;
  std::memcpy(&number, bytes.data() + position, sizeof number);
  return number;
}

std::string_view tag_at(std::span<const std::byte> bytes, std::size_t position) {
  return {reinterpret_cast<const char*>(bytes.data()) + position, 4};
}

// The next two functions decode an ITU-T G.711 sample: A-law (even bits inverted) to 13 bits, mu-law to 14 bits.
float from_a_law(unsigned code) {
  code ^= 0x55U;
  const unsigned exponent = code >> 4 & 7U, mantissa = code & 15U;
  const unsigned size = exponent == 0 ? 2 * mantissa + 1 : (2 * mantissa + 33) << (exponent - 1);
  return (code & 0x80U ? 1.0F : -1.0F) * static_cast<float>(size) / 4096.0F;
}

float from_mu_law(unsigned code) {
  code = ~code & 0xFFU;
  const unsigned exponent = code >> 4 & 7U, mantissa = code & 15U;
  const unsigned size = ((2 * mantissa + 33) << exponent) - 33;
  return (code & 0x80U ? -1.0F : 1.0F) * static_cast<float>(size) / 8192.0F;
}

struct Int24 {
  std::array<std::uint8_t, 3> bytes;

  std::int32_t shifted() const {  // returns the upper 24 bits of a 32-bit integer
    return static_cast<std::int32_t>(bytes[0] << 8U | bytes[1] << 16U | std::uint32_t{bytes[2]} << 24U);
  }
};

constexpr std::size_t kExtensibleBytes = 40;  // size of an extensible chunk 'fmt '
// Format tags of Microsoft's mmreg.h: WAVE_FORMAT_PCM, IEEE_FLOAT, ALAW, MULAW, EXTENSIBLE.
constexpr std::uint16_t kPcm = 1, kFloat = 3, kALaw = 6, kMuLaw = 7, kExtensible = 0xFFFE;

// The contents of a chunk "fmt ".
struct WaveFormat {
  std::uint16_t tag = 0;
  unsigned bits = 0;
  AudioFormat format = {};

  // Returns nullopt for compressed samples and for sizes that are not supported.
  std::optional<Encoding> encoding() const {
    switch (tag) {
      case kPcm: {
        constexpr std::array kIntegers = {Encoding::uint8, Encoding::int16, Encoding::int24, Encoding::int32};
        const unsigned bytes = (bits + 7) / 8;  // samples are stored in whole bytes, shifted to the left
        if (bytes >= 1 && bytes <= kIntegers.size()) return kIntegers[bytes - 1];
        break;
      }
      case kFloat:
        if (bits == 32) return Encoding::float32;
        if (bits == 64) return Encoding::float64;
        break;
      case kALaw: return Encoding::a_law;
      case kMuLaw: return Encoding::mu_law;
      default: break;
    }
    return std::nullopt;
  }
};

// Decodes uncompressed samples. Reads `bytes` bytes. If `bytes` is unset, reads to the end of the input.
class PlainDecoder final : public AudioDecoder {
 public:
  PlainDecoder(AudioInput input, Encoding encoding, const AudioFormat& format, std::optional<std::uint64_t> bytes)
      : input_(std::move(input)), encoding_(encoding), left_(bytes) {
    format_ = format;
    if (left_) format_.frames = *left_ / frame_bytes();
  }

  std::size_t read(std::span<float> samples) override {
    const std::size_t wanted = samples.size() / static_cast<std::size_t>(format_.channels) * frame_bytes();
    const std::size_t size = left_ ? static_cast<std::size_t>(std::min<std::uint64_t>(*left_, wanted)) : wanted;
    bytes_.resize(size);
    const std::size_t count = input_.read(bytes_);
    if (left_) *left_ = count < size ? 0 : *left_ - count;
    const std::size_t frames = count / frame_bytes();
    is_cut_ = is_cut_ || (left_ && count < size) || frames * frame_bytes() < count;
    const std::span<float> read = samples.first(frames * static_cast<std::size_t>(format_.channels));
    convert(encoding_, bytes_, read);
    check_samples(input_.name(), read);
    return frames;
  }

 private:
  std::size_t frame_bytes() const { return sample_bytes(encoding_) * static_cast<std::size_t>(format_.channels); }

  AudioInput input_;
  Encoding encoding_;
  std::optional<std::uint64_t> left_;
  std::vector<std::byte> bytes_;
};

// Parses a chunk "fmt ": tag, channels, sample rate, bytes per second, bytes per frame, bits per sample.
WaveFormat read_format(const AudioInput& input, std::span<const std::byte> chunk) {
  constexpr std::size_t kPlainBytes = 16;
  if (chunk.size() < kPlainBytes) {
    refuse(input.name(), "a chunk 'fmt ' of {} bytes, expected at least {}", chunk.size(), kPlainBytes);
  }
  WaveFormat wave{.tag = number_at<std::uint16_t>(chunk, 0), .bits = number_at<std::uint16_t>(chunk, 14)};
  const unsigned channels = number_at<std::uint16_t>(chunk, 2), block = number_at<std::uint16_t>(chunk, 12);
  const auto rate = number_at<std::uint32_t>(chunk, 4);
  if (wave.tag == kExtensible) {
    if (chunk.size() < kExtensibleBytes) {
      refuse(input.name(), "a chunk 'fmt ' of {} bytes, expected {}", chunk.size(), kExtensibleBytes);
    }
    wave.tag = number_at<std::uint16_t>(chunk, 24);  // first two bytes of the GUID of the actual format
  }
  wave.format = AudioDecoder::checked_format(input.name(), rate, channels);
  if (const auto encoding = wave.encoding(); encoding && block != channels * sample_bytes(*encoding)) {
    refuse(input.name(), "frames of {} bytes, expected {} for {} channels of {} bits", block,
           channels * sample_bytes(*encoding), channels, wave.bits);
  }
  return wave;
}

}  // namespace

bool is_plain_wav(AudioInput& input) {
  constexpr std::size_t kMaxBefore = 1 << 16;  // maximum offset of the chunk 'fmt '
  const auto head = input.peek(12);
  if (head.size() < 12 || tag_at(head, 8) != "WAVE") return false;
  const std::string_view form = tag_at(head, 0);
  if (form != "RIFF" && form != "RF64" && form != "BW64") return false;
  // Visit the chunks up to 'fmt '. A chunk is a tag, a size, and contents padded to an even size.
  for (std::size_t at = 12; at < kMaxBefore;) {
    if (input.peek(at + 8).size() < at + 8) break;
    const std::size_t size = number_at<std::uint32_t>(input.peek(at + 8), at + 4);
    if (tag_at(input.peek(at + 8), at) == "fmt ") {
      const auto chunk = input.peek(at + 8 + std::min(size, kExtensibleBytes)).subspan(at + 8);
      return read_format(input, chunk).encoding().has_value();
    }
    at += 8 + size + size % 2;
  }
  return true;  // open_wav() reports the fault
}

std::unique_ptr<AudioDecoder> open_wav(AudioInput input) {
  constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t kMaxFormatBytes = 1024;
  // Read the chunks up to the header of "data". The samples come next.
  input.skip(12);
  std::optional<WaveFormat> wave;
  std::optional<std::uint64_t> long_data;  // size of "data" from a chunk "ds64" (RF64)
  std::vector<std::byte> chunk;
  for (;;) {
    chunk.resize(8);
    if (input.read(chunk) < chunk.size()) refuse(input.name(), "ends before its samples: no chunk 'data'");
    const std::string tag(tag_at(chunk, 0));
    const auto size = number_at<std::uint32_t>(chunk, 4);
    if (tag == "data") {
      if (!wave) refuse(input.name(), "a chunk 'data' before 'fmt '");
      const auto encoding = wave->encoding();
      if (!encoding) {
        refuse<AudioFormatError>(input.name(),
                                 "samples of format {} and {} bits, expected integers of 8 to 32 bits, floats of 32 or "
                                 "64, A-law or mu-law",
                                 wave->tag, wave->bits);
      }
      std::optional<std::uint64_t> bytes = size;
      if (size == kUnknown) bytes = long_data;
      // A program that writes to a pipe (SoX, arecord) does not know the size, and states 0, 2^32 - 1 or about 2 GiB.
      const bool is_streamed = !input.stream().size() && size >= 0x7FFF'0000U && size <= 0x8000'0000U;
      if (size == 0 || bytes == 0 || is_streamed) bytes.reset();
      return std::make_unique<PlainDecoder>(std::move(input), *encoding, wave->format, bytes);
    }
    if (tag == "fmt " || tag == "ds64") {
      if (size > kMaxFormatBytes) {
        refuse(input.name(), "a chunk '{}' of {} bytes, expected at most {}", tag, size, kMaxFormatBytes);
      }
      chunk.resize(size);
      if (input.read(chunk) < size) refuse(input.name(), "ends within its chunk '{}'", tag);
      if (tag == "fmt ") {
        wave = read_format(input, chunk);
      } else if (size >= 16) {
        long_data = number_at<std::uint64_t>(chunk, 8);
      }
      input.skip(size % 2);
    } else {
      input.skip(std::uint64_t{size} + size % 2);
    }
  }
}

AudioFormat AudioDecoder::checked_format(const std::string& name, std::int64_t sample_rate, std::int64_t channels) {
  if (channels < 1 || channels > kMaxChannels) refuse(name, "{} channels, expected 1 to {}", channels, kMaxChannels);
  if (sample_rate < kMinSampleRate || sample_rate > kMaxSampleRate) {
    refuse(name, "a sample rate of {} Hz, expected {} to {}", sample_rate, kMinSampleRate, kMaxSampleRate);
  }
  return {.sample_rate = static_cast<int>(sample_rate), .channels = static_cast<int>(channels)};
}

void AudioDecoder::check_samples(const std::string& name, std::span<const float> samples) {
  for (const float sample : samples) {
    if (!std::isfinite(sample)) refuse(name, "a sample is {}, expected a number", sample);
  }
}

const RawAudio& checked(const RawAudio& raw) {
  check_range("sample rate", raw.sample_rate, AudioDecoder::kMinSampleRate, AudioDecoder::kMaxSampleRate);
  check_range("channels", raw.channels, 1, AudioDecoder::kMaxChannels);
  return raw;
}

std::size_t sample_bytes(RawAudio::Samples samples) {
  switch (samples) {
    case Encoding::uint8:
    case Encoding::a_law:
    case Encoding::mu_law: return 1;
    case Encoding::int16: return 2;
    case Encoding::int24: return 3;
    case Encoding::int32:
    case Encoding::float32: return 4;
    case Encoding::float64: return 8;
  }
  return 0;
}

void convert(RawAudio::Samples from, std::span<const std::byte> bytes, std::span<float> samples) {
  // Convert all samples. `stored` only selects the type of the stored numbers.
  const auto each = [&](auto stored, const auto& sample_of) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = sample_of(number_at<decltype(stored)>(bytes, i * sizeof stored));
    }
  };
  switch (from) {
    case Encoding::uint8:
      return each(std::uint8_t{}, [](unsigned n) { return (static_cast<float>(n) - 128.0F) / 0x1p7F; });
    case Encoding::int16: return each(std::int16_t{}, [](std::int16_t n) { return static_cast<float>(n) / 0x1p15F; });
    case Encoding::int24: return each(Int24{}, [](Int24 n) { return static_cast<float>(n.shifted()) / 0x1p31F; });
    case Encoding::int32: return each(std::int32_t{}, [](std::int32_t n) { return static_cast<float>(n) / 0x1p31F; });
    case Encoding::float32: return each(float{}, [](float n) { return n; });
    case Encoding::float64: return each(double{}, [](double n) { return static_cast<float>(n); });
    case Encoding::a_law: return each(std::uint8_t{}, from_a_law);
    case Encoding::mu_law: return each(std::uint8_t{}, from_mu_law);
  }
}

std::unique_ptr<AudioDecoder> open_raw(AudioInput input, const RawAudio& raw) {
  const AudioFormat format{.sample_rate = checked(raw).sample_rate, .channels = raw.channels};
  std::optional<std::uint64_t> bytes = input.stream().size();
  return std::make_unique<PlainDecoder>(std::move(input), raw.samples, format, bytes);
}

}  // namespace encdec
