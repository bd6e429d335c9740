// Tests encdec align with the bundled speech model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kNumbers = ENCDEC_PRETRAINED_DIR "/english-numbers";
const std::string kPause = kNumbers + "/clips/pause.wav";  // "four two seven", then "play some music"

class AlignTest : public testing::Test {
 protected:
  static Finished align(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {ENCDEC_COMMAND, "align", "--model", kNumbers});
    return run({.arguments = std::move(arguments), .input = input, .output_file = {}, .closed = {}});
  }
  // Returns the output of a run that finds all words.
  static std::string output_of(const std::vector<std::string>& arguments, const std::string& input = "") {
    const Finished finished = align(arguments, input);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    return finished.output;
  }

  TemporaryFolder folder_;
  std::string text_ = folder_.write("pause.txt", "Four, two seven!\n\nplay some music\n");
};

TEST_F(AlignTest, TheRecordingLimitsTheTextAndTellsThatItIsCut) {
  std::string words;
  while (words.size() < 200'000) words += "a ";
  EXPECT_TRUE(failed(align({"--text", folder_.write("long.txt", words), kPause}), 1,
                     {"a text of 200001 bytes, expected at most 128", " s of sound"}));
  const std::string bytes = read_file(kPause);
  const Finished cut = align({"--text", text_, folder_.write("cut.wav", bytes.substr(0, bytes.size() - 2000))});
  EXPECT_EQ(cut.status, 0);
  EXPECT_THAT(cut.errors, HasSubstr("cut.wav: the recording ends before its stated length"));
}

TEST_F(AlignTest, WordsAndLinesGetTimes) {
  const std::string output = output_of({"--text", text_, kPause});
  const auto json = nlohmann::json::parse(output);
  ASSERT_EQ(json["words"].size(), 6u);
  std::vector<std::string> words;
  for (const auto& word : json["words"]) words.push_back(word["word"]);
  EXPECT_EQ(words, (std::vector<std::string>{"Four,", "two", "seven!", "play", "some", "music"}));
  EXPECT_TRUE(json["unaligned"].empty());
  ASSERT_EQ(json["segments"].size(), 2u);
  EXPECT_EQ(json["segments"][0]["text"], "Four, two seven!");
  EXPECT_NEAR(json["segments"][0]["start"], 0.10, 0.06);
  EXPECT_NEAR(json["segments"][0]["end"], 0.94, 0.06);
  EXPECT_NEAR(json["segments"][1]["start"], 1.54, 0.06);
  EXPECT_NEAR(json["segments"][1]["end"], 2.44, 0.11);
  EXPECT_NEAR(json["duration"], 2.54, 0.01);
}

TEST_F(AlignTest, InputAndThreadsDoNotMatter) {
  const std::string output = output_of({"--text", text_, kPause});
  EXPECT_EQ(output_of({"--text", text_, "--threads", "2", "-"}, read_file(kPause)), output);
  EXPECT_EQ(output_of({"--text", text_, "--raw", "int16", "-"}, read_file(kPause).substr(44)), output);
  EXPECT_EQ(output_of({"--text", "-", kPause}, read_file(text_)), output);
  const std::string dos =
      output_of({"--text", folder_.write("dos.txt", "Four, two seven!\r\n\r\nplay some music"), kPause});
  EXPECT_EQ(dos, output);
}

TEST_F(AlignTest, TheFormatIsThatOfTheOptionOrOfTheEnding) {
  EXPECT_EQ(output_of({"--text", text_, kPause, "--output", folder_.path("a.srt")}), "");
  EXPECT_THAT(folder_.read("a.srt"), StartsWith("1\n00:00:00,"));
  EXPECT_THAT(folder_.read("a.srt"), HasSubstr("\nFour, two seven!\n\n2\n00:00:01,"));
  EXPECT_EQ(output_of({"--text", text_, kPause, "--output-format", "srt"}), folder_.read("a.srt"));
  output_of({"--text", text_, kPause, "--output", folder_.path("a.TextGrid")});
  EXPECT_THAT(folder_.read("a.TextGrid"), StartsWith("File type = \"ooTextFile\""));
  for (const char* part : {"name = \"words\"", "name = \"lines\"", "text = \"seven!\"", "text = \"play some music\""}) {
    EXPECT_THAT(folder_.read("a.TextGrid"), HasSubstr(part));
  }
}

TEST_F(AlignTest, WordsThatAreNotFoundAreCounted) {
  const std::string some = folder_.write("some.txt", "four two elephant\nplay some music\n");
  const Finished report = align({"--text", some, kPause});
  EXPECT_EQ(report.status, 0);
  EXPECT_THAT(report.errors, HasSubstr(some + ": 1 of 6 words have no times"));
  EXPECT_EQ(nlohmann::json::parse(report.output)["unaligned"],
            nlohmann::json::parse(R"([{"word": "elephant", "index": 2, "segment": 0}])"));
  const std::string other = folder_.write("other.txt", "somebody left an old umbrella near the boat\n");
  const Finished wrong = align({"--text", other, kPause});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.errors,
              HasSubstr("words have no times, expected at most half: is this the text of the recording?"));
}

TEST_F(AlignTest, RefusesWhatCannotBeAligned) {
  const std::string empty = folder_.write("empty.txt", "\n"), binary = folder_.write("binary.txt", "a \xFF");
  EXPECT_TRUE(failed(align({"--text", empty, kPause}), 1, {"pause.wav", "without a word"}));
  EXPECT_TRUE(failed(align({"--text", binary, kPause}), 1, {"UTF-8"}));
  EXPECT_TRUE(failed(align({"--text", folder_.path("none.txt"), kPause}), 1, {"none.txt"}));
  EXPECT_TRUE(failed(align({"--text", text_, text_}), 1, {"pause.txt", "expected WAV"}));
  EXPECT_TRUE(failed(align({"--text", text_}), 2, {"FILE is required"}));
  EXPECT_TRUE(failed(align({kPause}), 2, {"--text is required"}));
  EXPECT_TRUE(failed(align({"--text", "-", "-"}), 2, {"both standard input"}));
  EXPECT_TRUE(failed(align({"--text", text_, "--language", "de", kPause}), 1, {"'de' is not known"}));
  EXPECT_TRUE(failed(align({"--text", text_, "--output", text_, kPause}), 2, {"the same file as --text"}));
  const std::string model = ENCDEC_PRETRAINED_DIR "/english-pronunciation";
  EXPECT_TRUE(failed(encdec_command({"align", "--model", model, "--text", text_, kPause}), 1, {model}));
  const std::string moonshine = std::string(ENCDEC_GOLDEN_DIR) + "/moonshine/streaming";
  EXPECT_TRUE(failed(encdec_command({"align", "--model", moonshine, "--text", text_, kPause}), 1,
                     {moonshine, "expected Whisper to align a text"}));
}

}  // namespace
}  // namespace encdec
