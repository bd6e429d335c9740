#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/message_of.h"
#include "tools/speech/tests/audio/wav_writer.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

// Returns all samples, without resampling or mixing.
std::vector<float> decoded(const std::string& wav) {
  const auto decoder = open_wav(input_of(wav));
  const auto channels = static_cast<std::size_t>(decoder->format().channels);
  std::vector<float> all, chunk(3 * channels);
  for (;;) {
    const std::size_t frames = decoder->read(chunk);
    all.insert(all.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(frames * channels));
    if (frames < 3) return all;
  }
}

std::string failure(const std::string& wav) {
  return message_of<FileError>([&] { decoded(wav); });
}

TEST(Wav, SamplesOfEveryWidthAreFromMinusOneToOne) {
  const auto of = [](std::uint16_t tag, std::uint16_t bits, const std::string& samples) {
    std::vector<float> plain = decoded(WavFile{.tag = tag, .bits = bits, .samples = samples}.bytes());
    const WavFile extensible{.tag = tag, .bits = bits, .samples = samples, .is_extensible = true};
    EXPECT_EQ(decoded(extensible.bytes()), plain);
    return plain;
  };
  EXPECT_THAT(of(1, 8, std::string("\x00\x80\xC0\xFF", 4)), ElementsAre(-1, 0, 0.5, 127 / 128.0F));
  EXPECT_THAT(of(1, 16, raw<std::int16_t>({-32768, 0, 16384})), ElementsAre(-1, 0, 0.5));
  EXPECT_THAT(of(1, 12, raw<std::int16_t>({-32768, 0, 16384})), ElementsAre(-1, 0, 0.5));
  EXPECT_THAT(of(1, 24, std::string("\x00\x00\x80\x00\x00\x40\x01\x00\x00", 9)), ElementsAre(-1, 0.5, 0x1p-23F));
  EXPECT_THAT(of(1, 32, raw<std::int32_t>({INT32_MIN, 0, 1 << 30})), ElementsAre(-1, 0, 0.5));
  EXPECT_THAT(of(3, 32, raw<float>({-1.5F, 0.1F})), ElementsAre(-1.5F, 0.1F));
  EXPECT_THAT(of(3, 64, raw<double>({-1, 0.1})), ElementsAre(-1, 0.1F));
  // G.711: the loudest and the quietest values, and one between them.
  EXPECT_THAT(of(6, 8, "\x2A\xAA\xD5\x55\xC4"),
              ElementsAre(-4032 / 4096.0F, 4032 / 4096.0F, 1 / 4096.0F, -1 / 4096.0F, 35 / 4096.0F));
  EXPECT_THAT(of(7, 8, std::string("\x00\x80\xFF\x7F\xE0", 5)),
              ElementsAre(-8031 / 8192.0F, 8031 / 8192.0F, 0, -0.0F, 93 / 8192.0F));
}

TEST(Wav, OtherChunksAreSkipped) {
  const std::string samples = raw<std::int16_t>({1, 2, 3, 4});
  const WavFile wav{.channels = 2, .before_data = chunk("LIST", "odd") + chunk("fact", "even"), .samples = samples};
  EXPECT_THAT(decoded(wav.bytes() + chunk("LIST", "behind")), ElementsAre(0x1p-15F, 0x2p-15F, 0x3p-15F, 0x4p-15F));
}

TEST(Wav, StreamsWithoutASizeAreReadToTheirEnd) {
  WavFile wav{.samples = raw<std::int16_t>(std::vector<std::int16_t>(7, 5))};
  std::string empty = WavFile().bytes() + wav.samples;  // the recorder has not filled in the size
  EXPECT_THAT(decoded(empty), SizeIs(7));
  wav.data_size = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THAT(decoded(wav.bytes()), SizeIs(7));
  wav.riff = "RF64";
  wav.before_data = chunk("ds64", raw<std::uint64_t>({100, 14, 7}));
  EXPECT_THAT(decoded(wav.bytes() + "behind"), SizeIs(7));
  const std::string bytes = wav.bytes();
  const auto decoder = open_wav(input_of(bytes));
  EXPECT_EQ(decoder->format().frames, 7u);
}

TEST(Wav, TruncatedFilesAreReportedAsCut) {
  WavFile wav{.channels = 2, .samples = raw<std::int16_t>({1, 2, 3, 4}), .data_size = 4000};
  const std::string bytes = wav.bytes();
  for (const std::size_t lost : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
    const std::string cut = bytes.substr(0, bytes.size() - lost);
    const auto decoder = open_wav(input_of(cut));
    std::vector<float> samples(100);
    EXPECT_EQ(decoder->read(samples), lost == 0 ? 2u : 1u);
    EXPECT_TRUE(decoder->is_cut());
    EXPECT_EQ(decoder->read(samples), 0u);
  }
}

TEST(Wav, DamagedFilesAreRefused) {
  const std::string good = WavFile{.samples = raw<std::int16_t>({1, 2})}.bytes();
  constexpr std::size_t kSamples = 44;  // offset of the first sample
  for (std::size_t size = 12; size < kSamples; ++size) {
    EXPECT_THAT(failure(good.substr(0, size)), AllOf(StartsWith("x.wav: "), HasSubstr("end"))) << size;
  }
  EXPECT_THAT(failure(WavFile{.channels = 0}.bytes()), HasSubstr("0 channels, expected 1 to 64"));
  EXPECT_THAT(failure(WavFile{.channels = 65}.bytes()), HasSubstr("65 channels"));
  EXPECT_EQ(failure(WavFile{.channels = 64}.bytes()), "no exception");
  EXPECT_THAT(failure(WavFile{.rate = 1}.bytes()), HasSubstr("a sample rate of 1 Hz, expected 2000 to 768000"));
  EXPECT_THAT(failure(WavFile{.rate = 4'000'000'000}.bytes()), HasSubstr("4000000000 Hz"));
  EXPECT_THAT(failure(WavFile{.tag = 17, .bits = 4}.bytes()), HasSubstr("format 17 and 4 bits, expected integers"));
  EXPECT_THAT(failure(WavFile{.bits = 40}.bytes()), HasSubstr("format 1 and 40 bits"));
  EXPECT_THAT(failure(WavFile{.bits = 0}.bytes()), HasSubstr("format 1 and 0 bits"));
  EXPECT_THAT(failure(WavFile{.tag = 3, .bits = 16}.bytes()), HasSubstr("format 3 and 16 bits"));
  std::string block = good;
  block[32] = 3;
  EXPECT_THAT(failure(block), HasSubstr("frames of 3 bytes, expected 2 for 1 channels of 16 bits"));
  EXPECT_THAT(failure("RIFF\0\0\0\0WAVE" + chunk("data", "x")), HasSubstr("ends"));
  EXPECT_THAT(failure(std::string("RIFF\0\0\0\0WAVE", 12) + chunk("data", "x")), HasSubstr("'data' before 'fmt '"));
  EXPECT_THAT(failure(std::string("RIFF\0\0\0\0WAVE", 12) + chunk("fmt ", "short")), HasSubstr("'fmt ' of 5 bytes"));
  EXPECT_THAT(failure(std::string("RIFF\0\0\0\0WAVE", 12) + chunk("fmt ", std::string(2000, 'x'))),
              HasSubstr("'fmt ' of 2000 bytes, expected at most 1024"));
  const WavFile no_number{.tag = 3, .bits = 32, .samples = raw<float>({0, std::nanf("")})};
  EXPECT_THAT(failure(no_number.bytes()), HasSubstr("a sample is nan"));
}

}  // namespace
}  // namespace encdec
