// Tests encdec transcribe with a small random model. Its text is meaningless, but must be the same with all options
// that should not matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kModel = (fs::path(ENCDEC_GOLDEN_DIR) / "whisper_formats" / "hugging_face").string();

std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// Returns a rising tone as 16-bit samples.
std::string samples(double seconds, double hertz) {
  std::string data;
  for (int i = 0; i < static_cast<int>(seconds * 16'000); ++i) {
    const double t = i / 16'000.0;
    data += little_endian(static_cast<std::uint16_t>(std::lround(12'000 * std::sin(6.2832 * hertz * t * (1 + t)))), 2);
  }
  return data;
}

std::string wav(const std::string& data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  return "RIFF" + little_endian(size + 36, 4) + "WAVEfmt " + little_endian(16, 4) + little_endian(1, 2) +
         little_endian(1, 2) + little_endian(16'000, 4) + little_endian(32'000, 4) + little_endian(2, 2) +
         little_endian(16, 2) + "data" + little_endian(size, 4) + data;
}

class TranscribeTest : public testing::Test {
 protected:
  std::string recording(const std::string& name, double seconds, double hertz) const {
    return folder_.write(name, wav(samples(seconds, hertz)));
  }
  static Finished transcribe(std::vector<std::string> arguments, const std::string& input = "",
                             const std::string& model = kModel) {
    arguments.insert(arguments.begin(), {ENCDEC_COMMAND, "transcribe", "--model", model, "--quiet"});
    return run({.arguments = std::move(arguments), .input = input, .output_file = {}, .closed = {}});
  }
  static std::string text_of(const std::vector<std::string>& arguments, const std::string& input = "") {
    const Finished finished = transcribe(arguments, input);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    return finished.output;
  }

  TemporaryFolder folder_;
};

TEST_F(TranscribeTest, OtherRecordingsDoNotChangeARecordingsTranscript) {
  std::vector<std::string> files;
  std::string alone;
  for (int i = 0; i < 5; ++i) files.push_back(recording("r" + std::to_string(i) + ".wav", 0.3 + i, 200 + 90 * i));
  for (const std::string& file : files) alone += text_of({"--output-format", "json", "--word-timestamps", file});
  EXPECT_EQ(std::ranges::count(alone, '\n'), 5);
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--threads", "1"},
                                                  {"--threads", "2", "--batch-size", "2"},
                                                  {"--threads", "1", "--workers", "3"}}) {
    std::vector<std::string> arguments{"--output-format", "json", "--word-timestamps"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), files.begin(), files.end());
    EXPECT_EQ(text_of(arguments), alone) << options[1];
  }
}

TEST_F(TranscribeTest, MoonshineWritesOneSegmentForAShortRecording) {
  const std::string model = (fs::path(ENCDEC_GOLDEN_DIR) / "moonshine" / "untied").string();
  const Finished finished = transcribe({"--output-format", "json", recording("a.wav", 2.5, 300)}, "", model);
  EXPECT_EQ(finished.errors, "");
  const auto object = nlohmann::json::parse(finished.output);
  EXPECT_EQ(object["language"], "en");
  ASSERT_EQ(object["segments"].size(), 1u);
  EXPECT_EQ(object["segments"][0]["start"], 0);
  EXPECT_EQ(object["segments"][0]["end"], 2.5);
  const Finished refused = transcribe({"--word-timestamps", recording("b.wav", 1, 300)}, "", model);
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.errors, HasSubstr("word_timestamps is not available with moonshine"));
}

TEST_F(TranscribeTest, JsonHasTheKeysOfOpenai) {
  const auto object =
      nlohmann::json::parse(text_of({"--output-format", "json", "--word-timestamps", recording("a.wav", 2.5, 300)}));
  EXPECT_EQ(object.size(), 3u);
  EXPECT_EQ(object["language"], "en");
  ASSERT_FALSE(object["segments"].empty());
  for (const auto& segment : object["segments"]) {
    for (const char* key : {"id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob",
                            "compression_ratio", "no_speech_prob", "words"}) {
      EXPECT_TRUE(segment.contains(key)) << key;
    }
    EXPECT_LE(segment["start"], segment["end"]);
    EXPECT_LE(segment["end"], 2.5 + 0.4);
  }
}

TEST_F(TranscribeTest, FilesOfAllFormatsAreWrittenWithTheirExtensions) {
  const std::string file = recording("talk.wav", 1, 250), out = folder_.path("out");
  text_of({"--output-dir", out, "--output-format", "all", file, recording("other.wav", 0.7, 500)});
  for (const std::string format : {"txt", "vtt", "srt", "tsv", "json", "lrc"}) {
    EXPECT_TRUE(fs::exists(fs::path(out) / ("talk." + format))) << format;
    EXPECT_TRUE(fs::exists(fs::path(out) / ("other." + format))) << format;
    std::string text = text_of({"--output-format", format, file});
    if (format == "json") text.pop_back();  // the end of the line
    EXPECT_EQ(read_file(fs::path(out) / ("talk." + format)), text) << format;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), 12);
  EXPECT_THAT(read_file(fs::path(out) / "talk.vtt"), StartsWith("WEBVTT\n\n"));
}

TEST_F(TranscribeTest, TheExtensionOfTheOutputSetsTheFormatUnlessAnOptionDoes) {
  const std::string file = recording("talk.wav", 1, 250);
  for (const std::string format : {"txt", "vtt", "srt", "tsv", "lrc"}) {
    EXPECT_EQ(text_of({"--output", folder_.path("a." + format), file}), "");
    EXPECT_EQ(folder_.read("a." + format), text_of({"--output-format", format, file})) << format;
  }
  text_of({"--output", folder_.path("a.SRT"), file});
  EXPECT_EQ(folder_.read("a.SRT"), folder_.read("a.srt"));
  text_of({"--output", folder_.path("b.srt"), "--output-format", "vtt", file});
  EXPECT_EQ(folder_.read("b.srt"), folder_.read("a.vtt"));
  text_of({"--output", folder_.path("b"), file});
  EXPECT_EQ(folder_.read("b"), folder_.read("a.txt"));
}

TEST_F(TranscribeTest, BeamsHaveTheSameNameAsInGenerate) {
  const std::string file = recording("talk.wav", 1, 250);
  EXPECT_EQ(text_of({"--num-beams", "2", "--output-format", "json", file}),
            text_of({"--beam-size", "2", "--output-format", "json", file}));
  EXPECT_TRUE(failed(transcribe({file, "--num-beams", "0"}), 2, {"--beam-size", "'0'", "an integer from 1 to 1000"}));
}

TEST_F(TranscribeTest, StandardInputCanBeARecording) {
  const std::string file = recording("a.wav", 1.5, 400), expected = text_of({"--output-format", "srt", file});
  EXPECT_EQ(text_of({"--output-format", "srt", "-"}, wav(samples(1.5, 400))), expected);
  EXPECT_EQ(text_of({"--output-format", "srt", "--raw", "int16", "-"}, samples(1.5, 400)), expected);
  EXPECT_EQ(text_of({"-"}, wav("")), "");
}

TEST_F(TranscribeTest, StatisticsShowTheSpeed) {
  const std::string stats = folder_.path("stats.json");
  text_of({"--stats", stats, recording("a.wav", 1.5, 400), recording("b.wav", 0.5, 300)});
  const auto object = nlohmann::json::parse(read_file(stats));
  EXPECT_NEAR(object["audio_seconds"], 2.0, 0.02);
  EXPECT_GT(object["audio_seconds_per_second"], 0.0);
  EXPECT_GT(object["generated_tokens"], 0);
}

TEST_F(TranscribeTest, GuessesChangeNothingAndAreMadeWithoutBeams) {
  const std::string stats = folder_.path("stats.json"), tone = recording("a.wav", 1.5, 400);
  const std::string expected = text_of({"--beam-size", "1", "--output-format", "json", tone});
  for (const std::vector<std::string>& draft :
       {std::vector<std::string>{"--draft-precision", "int8"},
        {"--draft-model", kModel},
        {"--prompt-lookup-num-tokens", "4"},
        {"--draft-file", folder_.write("draft", nlohmann::json::parse(expected)["text"].get<std::string>() + "\n")}}) {
    std::vector<std::string> arguments = {"--beam-size", "1", "--output-format", "json", "--stats", stats, tone};
    arguments.insert(arguments.begin(), draft.begin(), draft.end());
    EXPECT_EQ(text_of(arguments), expected);
    EXPECT_GT(nlohmann::json::parse(read_file(stats))["draft_tokens"], 0);
  }
  const Finished noted =
      run({.arguments = {ENCDEC_COMMAND, "transcribe", "--model", kModel, "--draft-precision", "int8", tone},
           .input = "",
           .output_file = {},
           .closed = {}});
  EXPECT_THAT(noted.errors, HasSubstr("search with 5 beams makes no guesses"));
  const Finished missing = transcribe({"--draft-file", folder_.write("short", "a\n"), tone, tone});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.errors, HasSubstr("short: 1 lines, expected one for each of 2 recordings"));
}

TEST_F(TranscribeTest, ItMatchesOpenaiWhisper) {
  const fs::path golden = fs::path(ENCDEC_GOLDEN_DIR) / "whisper_formats" / "openai.json";
  const auto expect_near = [](const nlohmann::json& found, const nlohmann::json& wanted, const std::string& where) {
    for (const auto& [key, value] : wanted.items()) {
      if (value.is_number_float()) {
        EXPECT_NEAR(found[key], value, 1e-3) << where << key;
      } else if (key != "words") {
        EXPECT_EQ(found[key], value) << where << key;
      }
    }
  };
  for (const auto& expected : nlohmann::json::parse(read_file(golden))) {
    const std::string name = expected["name"];
    std::vector<std::string> arguments = {"--output-format", "json", "--temperature-increment-on-fallback", "none",
                                          recording(name + ".wav", expected["seconds"], expected["hertz"])};
    for (const std::string option : expected["options"]) arguments.push_back(option);
    const auto segments = nlohmann::json::parse(text_of(arguments))["segments"];
    ASSERT_EQ(segments.size(), expected["segments"].size()) << name;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const auto &found = segments[i], &wanted = expected["segments"][i];
      expect_near(found, wanted, name);
      const auto words = found.value("words", nlohmann::json::array()),
                 wanted_words = wanted.value("words", nlohmann::json::array());
      ASSERT_EQ(words.size(), wanted_words.size()) << name << i;
      for (std::size_t j = 0; j < words.size(); ++j) expect_near(words[j], wanted_words[j], name);
    }
  }
}

TEST_F(TranscribeTest, OnlyTheGivenClipsAreTranscribed) {
  const std::string file = recording("a.wav", 3, 300);
  const auto object =
      nlohmann::json::parse(text_of({"--output-format", "json", "--clip-timestamps", "0.5,0.9,2", file}));
  for (const auto& segment : object["segments"]) {
    const int seek = segment["seek"];
    EXPECT_TRUE((seek >= 50 && seek < 90) || seek >= 200) << seek;
  }
}

TEST_F(TranscribeTest, ARecordingThatCannotBeReadDoesNotStopTheOthers) {
  const std::string good = recording("good.wav", 1, 300), missing = folder_.path("missing.wav");
  folder_.write("bad.wav", "RIFF\1\2\3\4WAVEfmt nothing of the kind");
  const Finished finished = transcribe({good, missing, folder_.path("bad.wav"), good});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.output, text_of({good}) + text_of({good}));
  const std::vector<std::string> errors = split_lines(finished.errors);
  ASSERT_EQ(errors.size(), 3u) << finished.errors;
  EXPECT_EQ(errors[0], "encdec: " + missing + ": No such file or directory");
  EXPECT_THAT(errors[1], StartsWith("encdec: " + folder_.path("bad.wav") + ": "));
  EXPECT_EQ(errors[2], "encdec: not all recordings were transcribed");
  EXPECT_TRUE(failed(transcribe({missing}), 1, {"missing.wav: No such file or directory"}));
}

TEST_F(TranscribeTest, OtherFormatsGetAHint) {
  const std::string hint = "; for other formats: ffmpeg -i FILE -f wav - | encdec transcribe --model DIR -";
  const std::string text = folder_.write("a.txt", "This is no recording."), good = recording("good.wav", 1, 300);
  EXPECT_TRUE(failed(transcribe({text}), 1, {"a.txt: ", ", expected WAV", hint}));
  EXPECT_TRUE(failed(transcribe({"-"}, "This is no recording."), 1, {"standard input: ", hint}));
  const Finished both = transcribe({text, good});
  EXPECT_THAT(split_lines(both.errors).front(), testing::EndsWith(hint));
  EXPECT_THAT(transcribe({folder_.path("missing.wav")}).errors, testing::Not(HasSubstr("ffmpeg")));
}

TEST_F(TranscribeTest, OutputThatCannotBeWrittenStopsTheWork) {
  const std::string file = recording("a.wav", 1, 300);
  const Finished full =
      run({.arguments = {ENCDEC_COMMAND, "transcribe", "--model", kModel, "--quiet", file, file, file},
           .input = {},
           .output_file = "/dev/full",
           .closed = {}});
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.errors, "encdec: standard output: cannot write: No space left on device\n");

  const std::string folder = folder_.path("out");
  fs::create_directories(fs::path(folder) / "a.txt");  // no file can take its place
  const Finished finished = transcribe({file, recording("b.wav", 1, 300), "--workers", "1", "--output-dir", folder});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(split_lines(finished.errors).size(), 1u) << finished.errors;
  EXPECT_THAT(finished.errors, testing::Not(HasSubstr("not all recordings"))) << finished.errors;
}

TEST_F(TranscribeTest, DamagedRecordingsAreReported) {
  const std::string whole = wav(samples(0.2, 300));
  std::mt19937 random(1);
  std::vector<std::string> arguments;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = whole;
    for (int j = 0; j < 4; ++j) bytes[random() % 60] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    arguments.push_back(folder_.write(std::to_string(i) + ".wav", bytes));
  }
  arguments.insert(arguments.begin(), {"--temperature-increment-on-fallback", "none"});
  const Finished finished = transcribe(arguments);
  EXPECT_TRUE(finished.status == 0 || finished.status == 1) << finished.status << finished.errors;
}

TEST_F(TranscribeTest, ARecordingThatEndsEarlyHasItsTextAndANotice) {
  const std::string whole = wav(samples(2, 300));
  const std::string file = folder_.write("cut.wav", whole.substr(0, 44 + 32'000));
  const std::string same = folder_.write("same.wav", wav(samples(2, 300).substr(0, 32'000)));
  for (const std::vector<std::string>& more : {std::vector<std::string>(), {"--live"}}) {
    std::vector<std::string> arguments{"transcribe", "--model", kModel, file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = encdec_command(arguments);
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(split_lines(finished.errors).size(), 1u) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr("the recording ends before its stated length"));
    arguments[3] = same;
    EXPECT_EQ(encdec_command(arguments).output, finished.output);
    EXPECT_EQ(encdec_command(arguments).errors, "");
  }
}

TEST_F(TranscribeTest, NumbersOutOfRangeAreRefusedBeforeTheModelIsLoaded) {
  struct Row {
    const char* option;
    const char* value;
    const char* expected;
  };
  for (const auto& [option, value, expected] :
       {Row{"--max-initial-timestamp", "100.5", "a number from 0 to 100, or none"},
        {"--patience", "101", "a number from 0 to 100"},
        {"--temperature", "nan", "a number from 0 to 100"},
        {"--length-penalty", "1.5", "a number from 0 to 1, or none"},
        {"--no-speech-threshold", "60", "a number from 0 to 1, or none"},
        {"--logprob-threshold", "1", "a number from -1000000000 to 0, or none"}}) {
    EXPECT_TRUE(failed(transcribe({"a.wav", option, value}), 2, {option, "'" + std::string(value) + "'", expected}));
  }
}

TEST_F(TranscribeTest, TheFirstTimestampMayBeUnlimited) {
  const std::string file = recording("a.wav", 2, 300);
  const auto text = [&](const char* seconds) {
    return text_of({"--max-initial-timestamp", seconds, "--output-format", "json", file});
  };
  EXPECT_EQ(text("none"), text("100"));
  EXPECT_NE(text("none"), text("0"));
}

TEST_F(TranscribeTest, ContradictoryOptionsAreRefused) {
  const std::string file = recording("a.wav", 0.5, 300);
  EXPECT_TRUE(failed(transcribe({file, "--language", "xx"}), 1, {"language 'xx' is not known, expected one of en"}));
  EXPECT_TRUE(failed(transcribe({file, "--task", "translate"}), 1, {"knows only English"}));
  EXPECT_TRUE(failed(transcribe({file, "--max-words-per-line", "3"}), 2, {"--word-timestamps"}));
  EXPECT_TRUE(failed(transcribe({file, "--output-format", "all"}), 2, {"--output-dir"}));
  EXPECT_TRUE(failed(transcribe({file, file, "--output", "x"}), 2, {"--output-dir"}));
  EXPECT_TRUE(failed(transcribe({file, file, "--output-dir", folder_.path("o")}), 2, {"two recordings"}));
  EXPECT_TRUE(failed(transcribe({}), 2, {"FILE"}));
  EXPECT_TRUE(failed(transcribe({"--modle", "x", "a.wav"}), 2, {"unknown option '--modle', did you mean '--model'?"}));
  EXPECT_TRUE(failed(encdec_command({"transcribe", "--", "--modle"}), 2, {"encdec: --model is required"}));
  EXPECT_TRUE(failed(transcribe({file, "--output", file}), 2, {"--output " + file + ": the same file as FILE"}));
  EXPECT_TRUE(failed(transcribe({file, "--stats", file}), 2, {"--stats " + file + ": the same file as FILE"}));
  const std::string recording = folder_.write("talk.txt", "");
  EXPECT_TRUE(failed(transcribe({recording, "--output-dir", folder_.path("")}), 2,
                     {"--output-dir", recording + " is a recording"}));
  EXPECT_TRUE(failed(transcribe({file, "--rules", "transformers"}), 2, {"'transformers'", "expected openai"}));
  EXPECT_TRUE(failed(transcribe({file, "--chunk-length", "0.4"}), 2, {"--chunk-length"}));
  const std::string marian = golden_model("forced_bos");
  EXPECT_TRUE(failed(run({.arguments = {ENCDEC_COMMAND, "transcribe", "--model", marian, "--quiet", file},
                          .input = {},
                          .output_file = {},
                          .closed = {}}),
                     1, {"reads text, expected a model that reads sound"}));
  for (const char* command : {"generate", "score", "bench"}) {
    std::vector<std::string> arguments{ENCDEC_COMMAND, command, "--model", kModel};
    if (command == std::string("score")) arguments.insert(arguments.end(), {"--target", file});
    EXPECT_TRUE(failed(run({.arguments = arguments, .input = "hello\n", .output_file = {}, .closed = {}}), 1,
                       {"is a speech model, expected encdec transcribe"}))
        << command;
  }
}

}  // namespace
}  // namespace encdec
