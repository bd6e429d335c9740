// Tests transcription with the bundled speech model, of spoken numbers and commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/models/speech/audio/wav_writer.h"
#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::HasSubstr;

const std::string kNumbers = ENCDEC_PRETRAINED_DIR "/english-numbers";

// The text and the time of one utterance in a clip.
struct Utterance {
  double start, end;
  std::string text;
};

// Returns the utterances of each clip by its name, from the list beside the clips.
std::map<std::string, std::vector<Utterance>> clips() {
  std::map<std::string, std::vector<Utterance>> all;
  for (const std::string& line : split_lines(read_file(kNumbers + "/clips/clips.tsv"))) {
    std::istringstream fields(line);
    std::string name, start, end, text;
    for (std::string* field : {&name, &start, &end, &text}) std::getline(fields, *field, '\t');
    all[name].push_back({std::stod(start), std::stod(end), text});
  }
  return all;
}

std::string path_of(const std::string& clip) {
  return kNumbers + "/clips/" + clip;
}

// Returns the samples of a clip without the header.
std::string samples_of(const std::string& clip) {
  constexpr std::size_t kHeader = 44;
  return read_file(path_of(clip)).substr(kHeader);
}

std::string transcribe(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {ENCDEC_COMMAND, "transcribe", "--model", kNumbers, "--quiet"});
  const Finished finished = run({.arguments = std::move(arguments), .input = input, .output_file = {}, .closed = {}});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.errors, "");
  return finished.output;
}

std::string text_of(const std::vector<Utterance>& utterances) {
  std::string text;
  for (const Utterance& utterance : utterances) text += utterance.text + "\n";
  return text;
}

TEST(BundledSpeech, IsTranscribedCorrectlyInEveryPrecision) {
  ASSERT_EQ(clips().size(), 3u);
  for (const auto& [clip, said] : clips()) {
    for (const char* precision : {"float32", "bfloat16", "int8"}) {
      EXPECT_EQ(transcribe({"--precision", precision, path_of(clip)}), text_of(said)) << clip << " " << precision;
    }
  }
}

TEST(BundledSpeech, SegmentsAndWordsHaveTheRightTimes) {
  constexpr double kNear = 0.2;  // seconds
  for (const auto& [clip, said] : clips()) {
    for (const bool words : {false, true}) {
      std::vector<std::string> arguments{"--output-format", "json", path_of(clip)};
      if (words) arguments.insert(arguments.begin(), "--word-timestamps");
      const auto transcript = nlohmann::json::parse(transcribe(arguments));
      ASSERT_EQ(transcript["segments"].size(), said.size()) << clip;
      for (std::size_t i = 0; i < said.size(); ++i) {
        const auto& segment = transcript["segments"][i];
        EXPECT_NEAR(segment["start"], said[i].start, kNear) << clip;
        if (!words) {
          EXPECT_NEAR(segment["end"], said[i].end, kNear) << clip;
          continue;
        }
        std::string text;
        double last = 0;
        for (const auto& word : segment["words"]) {
          text += word["word"];
          EXPECT_LE(last, word["start"]);
          EXPECT_LE(word["start"], word["end"]);
          last = word["end"];
        }
        EXPECT_EQ(text, " " + said[i].text);
      }
    }
  }
}

TEST(BundledSpeech, EveryWayOfInputGivesTheSameText) {
  const std::string said = text_of(clips().at("timer.wav"));
  const std::string samples = samples_of("timer.wav");
  EXPECT_EQ(transcribe({"-"}, read_file(path_of("timer.wav"))), said);
  EXPECT_EQ(transcribe({"--raw", "int16", "--sample-rate", "16000", "--channels", "1", "-"}, samples), said);
  const WavFile twice{.rate = 32'000, .samples = [&] {
                        std::string held;
                        for (std::size_t i = 0; i < samples.size(); i += 2)
                          held += samples.substr(i, 2) + samples.substr(i, 2);
                        return held;
                      }()};
  EXPECT_EQ(transcribe({"-"}, twice.bytes()), said);
}

TEST(BundledSpeech, ManyClipsGiveTheSameAsEachAlone) {
  std::string alone;
  std::vector<std::string> together{"--output-format", "json", "--word-timestamps"};
  for (const auto& [clip, said] : clips()) {
    alone += transcribe({"--output-format", "json", "--word-timestamps", path_of(clip)});
    together.push_back(path_of(clip));
  }
  EXPECT_EQ(transcribe(together), alone);
}

// Longer than the model's window of six seconds.
TEST(BundledSpeech, ALongRecordingIsTranscribedWindowByWindow) {
  std::string samples;
  std::vector<std::string> said;
  for (int i = 0; i < 4; ++i) {
    for (const auto& [clip, utterances] : clips()) {
      samples += samples_of(clip) + std::string(32'000, '\0');  // a second of silence
      for (const Utterance& utterance : utterances) said.push_back(utterance.text);
    }
  }
  const auto found =
      split_lines(transcribe({"--no-condition-on-previous-text", "-"}, WavFile{.samples = samples}.bytes()));
  ASSERT_EQ(found.size(), said.size());
  std::size_t right = 0;
  for (std::size_t i = 0; i < said.size(); ++i) right += found[i] == said[i] ? 1 : 0;
  EXPECT_GE(right + 2, said.size());  // the word error rate for long files is about 5 %
}

TEST(BundledSpeech, SilenceAndNoiseGiveNoText) {
  std::minstd_rand random(7);
  std::string noise;
  for (int i = 0; i < 5 * 16'000; ++i) noise += raw(std::vector{static_cast<std::int16_t>(random() % 600)});
  EXPECT_EQ(transcribe({"-"}, WavFile{.samples = std::string(160'000, '\0')}.bytes()), "");
  EXPECT_EQ(transcribe({"-"}, WavFile{.samples = noise}.bytes()), "");
}

TEST(BundledSpeech, TheDemoTranscribesIt) {
  const Finished sample = run({{kEncdecDemo}, "", {}, {}});
  EXPECT_EQ(sample.status, 0) << sample.errors;
  const Finished files = run({{kEncdecDemo, "--speech", path_of("pause.wav")}, "", {}, {}});
  EXPECT_EQ(files.status, 0) << files.errors;
  const auto known = clips();
  for (const Utterance& utterance : known.at("pause.wav")) {
    EXPECT_THAT(sample.output, HasSubstr(utterance.text + "\n"));
    EXPECT_THAT(files.output, HasSubstr(utterance.text + "\n"));
  }
  EXPECT_THAT(files.output, HasSubstr("times as fast as it was spoken"));
}

}  // namespace
}  // namespace encdec
