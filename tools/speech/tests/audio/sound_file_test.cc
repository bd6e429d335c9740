// Tests reading through libsndfile, of files that it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>

#include "encdec/speech/audio/audio_reader.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"
#include "tools/speech/tests/all_samples.h"

namespace encdec {
namespace {

using testing::HasSubstr;

std::vector<float> tone() {
  std::vector<float> samples(44'100);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 440 * static_cast<double>(i) / 44'100));
  }
  return samples;
}

std::string written(const TempFolder& folder, int format) {
  const std::string path = folder / "sound";
  SF_INFO info = {.frames = 0, .samplerate = 44'100, .channels = 1, .format = format, .sections = 0, .seekable = 0};
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  if (file == nullptr) return "";
  const std::vector<float> samples = tone();
  sf_writef_float(file, samples.data(), static_cast<sf_count_t>(samples.size()));
  sf_close(file);
  return path;
}

std::string bytes_of_file(const std::string& path) {
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::FILE* file = std::fopen(path.c_str(), "rb");
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

AudioInput input_of(const std::string& bytes) {
  return {bytes_of(std::as_bytes(std::span(bytes))), "x"};
}

double power(const std::vector<float>& samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return sum / static_cast<double>(samples.size());
}

TEST(SoundFile, RefusesFilesThatAreNotRecordings) {
  // Without advice that fits only one program that uses the library.
  EXPECT_THAT(message_of<AudioFormatError>([] { all_samples(AudioReader::open("/dev/null")); }),
              testing::AllOf(HasSubstr("expected WAV, FLAC"), testing::Not(HasSubstr("ffmpeg"))));
}

TEST(SoundFile, AllFormatsGiveTheSameSound) {
  const struct {
    int format;
    double tolerance;
  } cases[] = {{SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1e-5},
               {SF_FORMAT_AIFF | SF_FORMAT_PCM_24, 1e-5},
               {SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1e-2},
               {SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 1e-2}};
  for (const auto& [format, tolerance] : cases) {
    const TempFolder folder;
    const std::string path = written(folder, format);
    ASSERT_NE(path, "");
    AudioReader reader = AudioReader::open(path);
    EXPECT_NEAR(*reader.seconds(), 1.0, 0.1);
    const auto samples = all_samples(reader);
    EXPECT_NEAR(static_cast<double>(samples.size()), 16'000, 1'600);
    EXPECT_NEAR(power(samples), 0.125, 0.125 * 0.1 + tolerance);
    EXPECT_FALSE(reader.is_cut());
    // A pipe gives the same samples.
    const std::string bytes = bytes_of_file(path);
    std::FILE* pipe = ::popen(("cat " + path).c_str(), "r");
    EXPECT_EQ(all_samples(AudioReader(AudioInput(bytes_of(::fileno(pipe), "-"), "-"))), samples);
    ::pclose(pipe);
    // A truncated file gives fewer samples or an error.
    for (const std::size_t part : {0u, 1u, 3u, 20u, 50u, 99u}) {
      const std::string cut = bytes.substr(0, bytes.size() * part / 100);
      try {
        EXPECT_LE(all_samples(AudioReader(input_of(cut))).size(), samples.size());
      } catch (const FileError& error) {
        EXPECT_THAT(std::string(error.what()), HasSubstr("x: "));
      }
    }
  }
}

std::string tagged(const std::string& bytes, std::size_t tags = 1, std::size_t padding = 0) {
  std::string tag("ID3\4\0\0\0\0\1\5", 10);  // 128 + 5 bytes
  tag.append(133, 'x');
  std::string all;
  for (std::size_t i = 0; i < tags; ++i) all += tag;
  return all + std::string(padding, '\0') + bytes;
}

TEST(SoundFile, ATagInFrontDoesNotChooseTheDecoder) {
  for (const int format : {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_PCM_16,
                           SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_WAV | SF_FORMAT_PCM_16,
                           SF_FORMAT_WAV | SF_FORMAT_GSM610, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    const TempFolder folder;
    const std::string path = written(folder, format), plain = bytes_of_file(path);
    const std::vector<float> samples = all_samples(AudioReader::open(path));
    EXPECT_GT(power(samples), 0.1);
    const bool is_mp3 = (format & SF_FORMAT_TYPEMASK) == SF_FORMAT_MPEG;
    for (const std::string& bytes : {tagged(plain), tagged(plain, 3), tagged(plain, 1, is_mp3 ? 50 : 0)}) {
      EXPECT_EQ(all_samples(AudioReader(input_of(bytes))), samples) << std::hex << format;
      folder.write("tagged", bytes);
      std::FILE* pipe = ::popen(("cat " + (folder / "tagged").string()).c_str(), "r");
      EXPECT_EQ(all_samples(AudioReader(AudioInput(bytes_of(::fileno(pipe), "-"), "-"))), samples);
      ::pclose(pipe);
    }
  }
}

TEST(SoundFile, AnMp3WithoutAFrameIsAnError) {
  std::string noise = "\xFF\xFB\x90\x64";  // the header of a frame, and no other one
  for (std::uint32_t i = 0, x = 1; i < 5000; ++i) noise += static_cast<char>((x = x * 1'664'525 + 1'013'904'223) >> 25);
  for (const std::string& bytes : {tagged(""), tagged(std::string(3000, '\0')), tagged(noise), noise}) {
    EXPECT_THAT(message_of<FileError>([&] { all_samples(AudioReader(input_of(bytes))); }), HasSubstr("x: "));
  }
}

TEST(SoundFile, WavOfTelephonesIsRead) {
  for (const int codec : {SF_FORMAT_GSM610, SF_FORMAT_IMA_ADPCM, SF_FORMAT_MS_ADPCM, SF_FORMAT_G721_32,
                          SF_FORMAT_NMS_ADPCM_16, SF_FORMAT_ULAW, SF_FORMAT_ALAW}) {
    const TempFolder folder;
    const std::string path = written(folder, SF_FORMAT_WAV | codec);
    if (path.empty()) continue;  // an older libsndfile
    std::string bytes = bytes_of_file(path);
    EXPECT_NEAR(power(all_samples(AudioReader(input_of(bytes)))), 0.125, 0.01) << std::hex << codec;
    const std::string chunk("LIST\4\0\0\0abcd", 12);
    bytes.insert(12, chunk);
    EXPECT_NEAR(power(all_samples(AudioReader(input_of(bytes)))), 0.125, 0.01) << std::hex << codec;
  }
}

TEST(SoundFile, AFileThatEndsEarlySaysSo) {
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                           SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    const TempFolder folder;
    const std::string bytes = bytes_of_file(written(folder, format));
    for (const std::size_t part : {85u, 100u}) {
      const std::string cut = bytes.substr(0, bytes.size() * part / 100);
      AudioReader reader(input_of(cut));
      all_samples(reader);
      EXPECT_EQ(reader.is_cut(), part < 100) << std::hex << format << ' ' << std::dec << part;
    }
  }
}

// Libraries must not write to standard error, where the program's own messages go.
TEST(SoundFile, DamageWritesNothingToStandardError) {
  const TempFolder folder;
  const std::string path = written(folder, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III);
  ASSERT_NE(path, "");
  const std::string whole = bytes_of_file(path);
  testing::internal::CaptureStderr();
  for (std::size_t place = 0; place < whole.size(); place += 97) {
    std::string bytes = whole;
    bytes.replace(place, 8, std::string(8, static_cast<char>(place)));
    try {
      all_samples(AudioReader(input_of(bytes)));
    } catch (const FileError&) {
      continue;
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace encdec
