#include "encdec/speech/audio/audio_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tools/speech/tests/audio/wav_writer.h"
#include "tools/speech/tests/recordings.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(AudioReader, MixesChannels) {
  const WavFile wav{.channels = 2, .samples = raw<std::int16_t>({100, 300, -8, 8})};
  const std::string bytes = wav.bytes();
  AudioReader reader(input_of(bytes));
  EXPECT_EQ(reader.seconds(), 2 / 16'000.0);
  EXPECT_THAT(all_samples(reader), ElementsAre(200 * 0x1p-15F, 0));
}

TEST(AudioReader, PiecesOfAnySizeGiveTheSameSamples) {
  std::vector<std::int16_t> samples(100'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::int16_t>(i * 7919);
  const std::string bytes = WavFile{.rate = 44'100, .samples = raw(samples)}.bytes();
  const auto all = all_samples(AudioReader(input_of(bytes)));
  EXPECT_THAT(all, SizeIs((100'000 * 160 + 440) / 441));
  EXPECT_EQ(all_samples(AudioReader(input_of(bytes)), 997), all);
}

TEST(RawAudioStream, PiecesOfAnySizeGiveTheSamplesOfAReader) {
  std::string bytes;
  for (std::size_t i = 0; i < 40'001; ++i) bytes += static_cast<char>(i * i % 251);
  for (const RawAudio& raw : {RawAudio{.sample_rate = 24'000}, RawAudio{.sample_rate = 16'000, .channels = 3},
                              RawAudio{.samples = RawAudio::Samples::mu_law, .sample_rate = 8'000},
                              RawAudio{.samples = RawAudio::Samples::a_law, .sample_rate = 8'000}}) {
    const auto expected = all_samples(AudioReader(open_raw(input_of(bytes), raw)));
    for (const std::size_t chunk : {1u, 7u, 640u, 100'000u}) {
      RawAudioStream stream(raw, "packets");
      std::vector<float> samples;
      for (std::size_t i = 0; i < bytes.size(); i += chunk) {
        stream.push(std::as_bytes(std::span(bytes)).subspan(i, std::min(chunk, bytes.size() - i)), samples);
      }
      stream.finish(samples);
      EXPECT_EQ(samples, expected) << raw.sample_rate << " " << chunk;
    }
  }
  const std::string floats = raw<float>({0.5F, 0.25F, -1, 1});
  const RawAudio stereo{.samples = RawAudio::Samples::float32, .channels = 2};
  EXPECT_THAT(all_samples(AudioReader(open_raw(input_of(floats), stereo))), ElementsAre(0.375F, 0));
  EXPECT_THROW(open_raw(input_of(floats), {.channels = 0}), ConfigError);
  EXPECT_THAT(message_of<ConfigError>([] { RawAudioStream({.sample_rate = 7}, "packets"); }),
              HasSubstr("sample rate is 7, expected"));
}

TEST(AudioReader, RefusesFilesThatAreNotRecordings) {
  const auto failure = [](const std::string& path) {
    return message_of<FileError>([&] { all_samples(AudioReader::open(path)); });
  };
  EXPECT_THAT(failure("/nowhere.wav"), HasSubstr("/nowhere.wav: No such file"));
  EXPECT_THAT(failure("/tmp"), HasSubstr("a folder, expected a recording"));
  for (const std::string bytes : {"", "RIFF", "RIFF\0\0\0\0AVI ", "fLaC and then nothing of it", "OggS", "ID3"}) {
    EXPECT_THROW(all_samples(AudioReader(input_of(bytes))), FileError) << bytes;
  }
}

}  // namespace
}  // namespace encdec
