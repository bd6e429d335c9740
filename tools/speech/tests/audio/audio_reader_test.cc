#include "encdec/speech/audio/audio_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "tests/support/message_of.h"
#include "tools/speech/tests/all_samples.h"
#include "tools/speech/tests/audio/wav_writer.h"

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
  AudioReader reader(input_of(bytes));
  std::vector<float> pieces, piece(997);
  for (std::size_t count = piece.size(); count == piece.size();) {
    count = reader.read(piece);
    pieces.insert(pieces.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
  EXPECT_EQ(pieces, all);
}

TEST(AudioReader, ReadsPipes) {
  const std::string bytes = WavFile{.samples = raw<std::int16_t>(std::vector<std::int16_t>(50'000, 9))}.bytes();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (std::size_t done = 0; done < bytes.size();) {
      const ::ssize_t count = ::write(ends[1], bytes.data() + done, std::min<std::size_t>(999, bytes.size() - done));
      done += static_cast<std::size_t>(count);
    }
    ::close(ends[1]);
  });
  EXPECT_THAT(all_samples(AudioReader(AudioInput(bytes_of(ends[0], "-"), "-"))), SizeIs(50'000));
  writer.join();
  ::close(ends[0]);
}

TEST(AudioReader, ReadsSamplesWithoutAHeader) {
  const std::string bytes = raw<float>({0.5F, 0.25F, -1, 1});
  AudioReader reader(open_raw(input_of(bytes), {.samples = RawAudio::Samples::float32, .channels = 2}));
  EXPECT_THAT(all_samples(reader), ElementsAre(0.375F, 0));
  EXPECT_THROW(open_raw(input_of(bytes), {.channels = 0}), ConfigError);
  EXPECT_THROW(open_raw(input_of(bytes), {.sample_rate = 1}), ConfigError);
}

TEST(RawAudioStream, PiecesOfAnySizeGiveTheSamplesOfAReader) {
  std::string bytes;
  for (std::size_t i = 0; i < 40'001; ++i) bytes += static_cast<char>(i * i % 251);
  for (const RawAudio& raw : {RawAudio{.sample_rate = 24'000}, RawAudio{.sample_rate = 16'000, .channels = 3},
                              RawAudio{.samples = RawAudio::Samples::mu_law, .sample_rate = 8'000},
                              RawAudio{.samples = RawAudio::Samples::a_law, .sample_rate = 8'000}}) {
    const auto expected = all_samples(AudioReader(open_raw(input_of(bytes), raw)));
    for (const std::size_t piece : {1u, 7u, 640u, 100'000u}) {
      RawAudioStream stream(raw, "packets");
      std::vector<float> samples;
      for (std::size_t i = 0; i < bytes.size(); i += piece) {
        stream.push(std::as_bytes(std::span(bytes)).subspan(i, std::min(piece, bytes.size() - i)), samples);
      }
      stream.finish(samples);
      EXPECT_EQ(samples, expected) << raw.sample_rate << " " << piece;
    }
  }
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
