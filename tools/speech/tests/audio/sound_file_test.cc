// Reads files that libsndfile has written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numbers>

#include "encdec/speech/audio/audio_reader.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"
#include "tools/speech/tests/recordings.h"

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
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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
  // The message gives no advice that is right for one program only.
  EXPECT_THAT(message_of<AudioFormatError>([] { all_samples(AudioReader::open("/dev/null")); }),
              testing::AllOf(HasSubstr("expected WAV, FLAC"), testing::Not(HasSubstr("ffmpeg"))));
}

// Returns the bytes with `tags` ID3 tags and some zeros before them.
std::string tagged(const std::string& bytes, std::size_t tags = 1, std::size_t padding = 0) {
  std::string tag("ID3\4\0\0\0\0\1\5", 10);  // 128 + 5 bytes
  tag.append(133, 'x');
  std::string all;
  for (std::size_t i = 0; i < tags; ++i) all += tag;
  return all + std::string(padding, '\0') + bytes;
}

TEST(SoundFile, AllFormatsGiveTheSameSound) {
  const struct {
    int format;
    double tolerance;
    bool says_cut = false;  // whether a truncated file sets is_cut()
  } cases[] = {
      {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1e-5, true},
      {SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1e-2, true},
      {SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 1e-2, true},
      {SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1e-5, true},
      {SF_FORMAT_AIFF | SF_FORMAT_PCM_24, 1e-5},
      {SF_FORMAT_WAV | SF_FORMAT_GSM610, 1e-2},
      {SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 1e-2},
      {SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, 1e-2},
      {SF_FORMAT_WAV | SF_FORMAT_NMS_ADPCM_16, 1e-2},
      {SF_FORMAT_WAV | SF_FORMAT_G721_32, 1e-2},
      {SF_FORMAT_WAV | SF_FORMAT_ULAW, 1e-2, true},
      {SF_FORMAT_WAV | SF_FORMAT_ALAW, 1e-2, true},
  };
  for (const auto& [format, tolerance, says_cut] : cases) {
    const TempFolder folder;
    const std::string path = written(folder, format);
    if (path.empty() && format == (SF_FORMAT_WAV | SF_FORMAT_NMS_ADPCM_16)) continue;  // an older libsndfile
    ASSERT_NE(path, "") << std::hex << format;
    AudioReader reader = AudioReader::open(path);
    EXPECT_NEAR(*reader.seconds(), 1.0, 0.1);
    const auto samples = all_samples(reader);
    EXPECT_NEAR(static_cast<double>(samples.size()), 16'000, 1'600);
    EXPECT_NEAR(power(samples), 0.125, 0.125 * 0.1 + tolerance);
    EXPECT_FALSE(reader.is_cut());
    // Tags do not affect the choice of the decoder, and a pipe gives the same samples.
    const std::string bytes = bytes_of_file(path);
    const bool is_mp3 = (format & SF_FORMAT_TYPEMASK) == SF_FORMAT_MPEG;
    for (const std::string& same : {bytes, tagged(bytes), tagged(bytes, 3), tagged(bytes, 1, is_mp3 ? 50 : 0)}) {
      EXPECT_EQ(all_samples(AudioReader(input_of(same))), samples) << std::hex << format;
      folder.write("same", same);
      std::FILE* pipe = ::popen(("cat " + (folder / "same").string()).c_str(), "r");
      EXPECT_EQ(all_samples(AudioReader(AudioInput(bytes_of(::fileno(pipe), "-"), "-"))), samples);
      ::pclose(pipe);
    }
    if ((format & SF_FORMAT_TYPEMASK) == SF_FORMAT_WAV) {
      const std::string chunk("LIST\4\0\0\0abcd", 12);
      EXPECT_EQ(all_samples(AudioReader(input_of(std::string(bytes).insert(12, chunk)))), samples)
          << std::hex << format;
    }
    // A truncated file gives fewer samples or throws.
    for (const std::size_t part : {0u, 1u, 3u, 20u, 50u, 85u, 99u}) {
      const std::string cut = bytes.substr(0, bytes.size() * part / 100);
      try {
        AudioReader cut_reader(input_of(cut));
        EXPECT_LE(all_samples(cut_reader).size(), samples.size());
        EXPECT_TRUE(part != 85 || cut_reader.is_cut() == says_cut) << std::hex << format;
      } catch (const FileError& error) {
        EXPECT_THAT(std::string(error.what()), HasSubstr("x: "));
        EXPECT_TRUE(part != 85 || !says_cut) << std::hex << format;
      }
    }
  }
}

TEST(SoundFile, AnMp3WithoutAFrameIsAnError) {
  std::string noise = "\xFF\xFB\x90\x64";  // the header of one frame
  for (std::uint32_t i = 0, x = 1; i < 5000; ++i) noise += static_cast<char>((x = x * 1'664'525 + 1'013'904'223) >> 25);
  for (const std::string& bytes : {tagged(""), tagged(std::string(3000, '\0')), tagged(noise), noise}) {
    EXPECT_THAT(message_of<FileError>([&] { all_samples(AudioReader(input_of(bytes))); }), HasSubstr("x: "));
  }
}

// The decoders must not write to standard error, which is for the program's own messages.
TEST(SoundFile, DamageWritesNothingToStandardError) {
  const TempFolder folder;
  const std::string path = written(folder, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III);
  ASSERT_NE(path, "");
  const std::string whole = bytes_of_file(path);
  testing::internal::CaptureStderr();
  for (std::size_t position = 0; position < whole.size(); position += 97) {
    std::string bytes = whole;
    bytes.replace(position, 8, std::string(8, static_cast<char>(position)));
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
