// Tests encdec align with the bundled speech model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tools/speech/tests/recordings.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
using Arguments = std::vector<std::string>;

const std::string kPause = clip_path("pause.wav");  // "four two seven", then "play some music"

class AlignTest : public testing::Test {
 protected:
  static Finished align(Arguments arguments, const std::string& input = "", const std::string& model = kNumbers) {
    arguments.insert(arguments.begin(), {"align", "--model", model});
    return encdec_command(arguments, input);
  }
  // Returns the output of a run that finds all words.
  static std::string output_of(const Arguments& arguments, const std::string& input = "") {
    const Finished finished = align(arguments, input);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    return finished.output;
  }

  TemporaryFolder folder_;
  std::string text_ = folder_.write("pause.txt", "Four, two seven!\n\nplay some music\n");
};

TEST_F(AlignTest, InputAndThreadsDoNotMatter) {
  const std::string output = output_of({"--text", text_, kPause});
  EXPECT_EQ(json::parse(output)["words"].size(), 6u);
  EXPECT_EQ(output_of({"--text", text_, "--threads", "2", "-"}, read_file(kPause)), output);
  EXPECT_EQ(output_of({"--text", text_, "--raw", "int16", "-"}, read_file(kPause).substr(44)), output);
  EXPECT_EQ(output_of({"--text", "-", kPause}, read_file(text_)), output);
  const std::string dos = folder_.write("dos.txt", "Four, two seven!\r\n\r\nplay some music");
  EXPECT_EQ(output_of({"--text", dos, kPause}), output);
}

TEST_F(AlignTest, TheFormatIsThatOfTheOptionOrOfTheEnding) {
  EXPECT_EQ(output_of({"--text", text_, kPause, "--output", folder_.path("a.srt")}), "");
  EXPECT_THAT(folder_.read("a.srt"), StartsWith("1\n00:00:00,"));
  EXPECT_THAT(folder_.read("a.srt"), HasSubstr("\nFour, two seven!\n\n2\n00:00:01,"));
  EXPECT_EQ(output_of({"--text", text_, kPause, "--output-format", "srt"}), folder_.read("a.srt"));
  output_of({"--text", text_, kPause, "--output", folder_.path("a.TextGrid")});
  EXPECT_THAT(folder_.read("a.TextGrid"), StartsWith("File type = \"ooTextFile\""));
}

TEST_F(AlignTest, NoticesTellOfWordsThatAreNotFoundAndOfCutRecordings) {
  const std::string some = folder_.write("some.txt", "four two elephant\nplay some music\n");
  const Finished report = align({"--text", some, kPause});
  EXPECT_EQ(report.status, 0);
  EXPECT_THAT(report.errors, HasSubstr(some + ": 1 of 6 words are unaligned"));
  EXPECT_EQ(json::parse(report.output)["unaligned"],
            json::parse(R"([{"word": "elephant", "index": 2, "segment": 0}])"));
  const std::string bytes = read_file(kPause);
  const Finished cut = align({"--text", text_, folder_.write("cut.wav", bytes.substr(0, bytes.size() - 2000))});
  EXPECT_EQ(cut.status, 0);
  EXPECT_THAT(cut.errors, HasSubstr("cut.wav: the recording ends before its stated length"));
  const std::string other = folder_.write("other.txt", "somebody left an old umbrella near the boat\n");
  const Finished wrong = align({"--text", other, kPause});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.errors,
              HasSubstr("words are unaligned, expected at most half; does the text match the recording?"));
}

TEST_F(AlignTest, RefusesWhatCannotBeAligned) {
  const std::string binary = folder_.write("binary.txt", "a \xFF"),
                    longer = folder_.write("long.txt", std::string(200'000, 'a')),
                    pronunciation = ENCDEC_PRETRAINED_DIR "/english-pronunciation",
                    moonshine = ENCDEC_GOLDEN_DIR "/moonshine/streaming";
  const struct {
    Arguments arguments;
    int status;
    Arguments parts;
    std::string model = kNumbers;
  } rows[] = {
      {{"--text", longer, kPause}, 1, {"a text of 200001 bytes, expected at most 128", " s of audio"}},
      {{"--text", folder_.write("empty.txt", "\n"), kPause}, 1, {"pause.wav", "without a word"}},
      {{"--text", binary, kPause}, 1, {"UTF-8"}},
      {{"--text", folder_.path("none.txt"), kPause}, 1, {"none.txt"}},
      {{"--text", text_, text_}, 1, {"pause.txt", "expected WAV"}},
      {{"--text", text_}, 2, {"FILE is required"}},
      {{kPause}, 2, {"--text is required"}},
      {{"--text", "-", "-"}, 2, {"both standard input"}},
      {{"--text", text_, "--language", "de", kPause}, 1, {"'de' is not known"}},
      {{"--text", text_, "--output", text_, kPause}, 2, {"the same file as --text"}},
      {{"--text", text_, kPause}, 1, {pronunciation}, pronunciation},
      {{"--text", text_, kPause}, 1, {moonshine, "expected a Whisper model"}, moonshine},
  };
  for (const auto& [arguments, status, parts, model] : rows)
    EXPECT_TRUE(failed(align(arguments, "", model), status, parts)) << parts[0];
}

}  // namespace
}  // namespace encdec
