// Tests transcription with the bundled speech model, of spoken numbers and commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tools/speech/tests/audio/wav_writer.h"

namespace encdec {
namespace {

using testing::HasSubstr;

const std::string kNumbersModel = ENCDEC_PRETRAINED_DIR "/english-numbers";

// The text and the time of one utterance in a clip.
struct Utterance {
  double start, end;
  std::string text;
};

// Returns the utterances of each clip by its name, from the list beside the clips.
std::map<std::string, std::vector<Utterance>> clips() {
  std::map<std::string, std::vector<Utterance>> all;
  for (const std::string& line : split_lines(read_file(kNumbersModel + "/clips/clips.tsv"))) {
    std::istringstream fields(line);
    std::string name, start, end, text;
    for (std::string* field : {&name, &start, &end, &text}) std::getline(fields, *field, '\t');
    all[name].push_back({std::stod(start), std::stod(end), text});
  }
  return all;
}

std::string path_of(const std::string& clip) {
  return kNumbersModel + "/clips/" + clip;
}

// Returns the samples of a clip without the header.
std::string samples_of(const std::string& clip) {
  constexpr std::size_t kHeader = 44;
  return read_file(path_of(clip)).substr(kHeader);
}

std::string transcribe(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {ENCDEC_COMMAND, "transcribe", "--model", kNumbersModel, "--quiet"});
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

// Returns all clips, a second of silence behind each.
std::string all_clips() {
  std::string samples;
  for (const auto& [clip, said] : clips()) samples += samples_of(clip) + std::string(32'000, '\0');
  return samples;
}

TEST(BundledSpeech, LiveTextsAreThoseOfAFile) {
  std::string expected;
  for (const auto& [clip, said] : clips()) expected += text_of(said);
  const std::string samples = all_clips();
  EXPECT_EQ(transcribe({"--live", "--raw", "int16"}, samples), expected);
  const TemporaryFolder folder;
  const std::string file = folder.write("all.wav", WavFile{.samples = samples}.bytes());
  EXPECT_EQ(transcribe({"--live", file}), expected);

  const std::vector<std::string> live{"--live", "--output-format", "jsonl", "--partials", "always", "--step", "400"};
  std::vector<std::string> raw = live, whole = live;
  raw.insert(raw.end(), {"--raw", "int16", "-"});
  whole.push_back(file);
  std::map<std::size_t, std::vector<std::string>> lines[2];  // JSON lines by utterance
  for (const auto& line : split_lines(transcribe(raw, samples))) {
    lines[0][nlohmann::json::parse(line).value("id", 99u)].push_back(line);
  }
  for (const auto& line : split_lines(transcribe(whole))) {
    lines[1][nlohmann::json::parse(line).value("id", 99u)].push_back(line);
  }
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_EQ(lines[0].size(), 5u);
  EXPECT_EQ(nlohmann::json::parse(lines[0][99].front())["utterances"], 4);
  const std::string subtitles = transcribe({"--live", "--output-format", "srt", file});
  EXPECT_THAT(subtitles, testing::StartsWith("1\n00:00:00,"));
  EXPECT_THAT(subtitles, HasSubstr("\n\n4\n00:00:0"));
}

TEST(BundledSpeech, AnInterruptedLiveTranscriptHasItsLastText) {
  Process process({ENCDEC_COMMAND, "transcribe", "--model", kNumbersModel, "--quiet", "--live", "--raw", "int16"});
  process.write(all_clips().substr(0, 26'714 * 2 + 32'000 + 40'000));
  EXPECT_EQ(process.read_line(), "three hundred and twelve");
  process.wait_for_reading();
  process.send(SIGINT);
  EXPECT_EQ(process.read_line(), "four two seven");
  const Finished finished = process.wait();
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.errors, "");
}

TEST(BundledSpeech, WrongUseOfLive) {
  const auto wrong = [](std::vector<std::string> arguments, const std::string& part) {
    arguments.insert(arguments.begin(), {"transcribe", "--model", kNumbersModel});
    EXPECT_TRUE(failed(encdec_command(arguments), 2, {part})) << part;
  };
  wrong({}, "FILE is required");
  wrong({"--live", "a.wav", "b.wav"}, "--live with several recordings");
  wrong({"--live", "--clip-timestamps", "1,2"}, "--live with --clip-timestamps");
  wrong({"--output-format", "jsonl", path_of("pause.wav")}, "--output-format jsonl without --live");
  wrong({"--live", "--step", "1"}, "expected an integer from 100");
}

}  // namespace
}  // namespace encdec
