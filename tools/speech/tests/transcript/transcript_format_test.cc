#include "encdec/speech/transcript/transcript_format.h"

#include <gtest/gtest.h>

#include <limits>

#include "encdec/speech/transcript/alignment_format.h"
#include "tools/speech/tests/golden_speech.h"

namespace encdec {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Transcript transcript_from(const nlohmann::json& json) {
  Transcript transcript{.text = json.at("text"), .language = json.at("language")};
  for (const auto& segment : json.at("segments")) transcript.segments.push_back(segment_from(segment));
  return transcript;
}

std::optional<int> option(const nlohmann::json& options, const char* name) {
  if (!options.contains(name)) return std::nullopt;
  return options.at(name).get<int>();
}

TranscriptLineOptions options_from(const nlohmann::json& options) {
  return {.highlight_words = options.value("highlight_words", false),
          .max_line_width = option(options, "max_line_width"),
          .max_line_count = option(options, "max_line_count"),
          .max_words_per_line = option(options, "max_words_per_line")};
}

TEST(TranscriptFormat, BytesMatchOpenai) {
  for (const auto& golden : golden_speech("transcripts")) {
    const Transcript transcript = transcript_from(golden.at("transcript"));
    for (const auto& output : golden.at("outputs")) {
      const auto name = output.at("format").get<std::string>();
      TranscriptLineOptions options = options_from(output.at("options"));
      options.word_times = golden.at("has_words");
      EXPECT_EQ(format(transcript, value_named<TranscriptFormat>(kTranscriptFormats, name).value(), options),
                output.at("text").get<std::string>())
          << name << ' ' << output.at("options");
    }
  }
}

TEST(TranscriptFormat, SubtitlesAreWrittenWhenTheyAreFinal) {
  TranscriptWriter writer(TranscriptFormat::srt, {.word_times = true, .max_line_width = 9, .max_line_count = 1});
  EXPECT_EQ(writer.begin(), "");
  EXPECT_EQ(writer.add({.words = {{" one", 0, 1, 1}, {" two", 1, 2, 1}}}), "");
  EXPECT_EQ(writer.add({.words = {{" three", 2, 3, 1}}}), "1\n00:00:00,000 --> 00:00:02,000\none two\n\n");
  EXPECT_EQ(writer.add({}), "");
  EXPECT_EQ(writer.add({.words = {{" x", 6, 7, 1}}}), "2\n00:00:02,000 --> 00:00:03,000\nthree\n\n");  // a pause
  EXPECT_EQ(writer.end({}), "3\n00:00:06,000 --> 00:00:07,000\nx\n\n");
}

TEST(TranscriptFormat, LyricsMatchWhisperCpp) {
  EXPECT_EQ(
      format({.segments = {{.start = 0, .text = " And so"}, {.start = 3725.126, .text = " x"}}}, TranscriptFormat::lrc),
      "[00:00.00] And so\n[62:05.13] x\n");
}

TEST(TranscriptFormat, NaNAndInvalidUtf8AreReplaced) {
  const TranscriptSegment segment{
      .start = -1, .end = kNan, .text = " a\xff\xe6", .no_speech_prob = kNan, .words = {{"\xe6", kNan, 1, 1}}};
  const Transcript transcript{.text = segment.text, .language = "en", .segments = {segment}};
  const auto json = nlohmann::json::parse(format(transcript, TranscriptFormat::json));
  EXPECT_TRUE(json.at("segments")[0].at("no_speech_prob").is_null());
  EXPECT_EQ(json.at("text"), " a\uFFFD\uFFFD");
  EXPECT_EQ(format(transcript, TranscriptFormat::vtt), "WEBVTT\n\n00:00.000 --> 00:01.000\n\uFFFD\n\n");
  EXPECT_EQ(format(transcript, TranscriptFormat::tsv), "start\tend\ttext\n0\t0\ta\uFFFD\uFFFD\n");
}

TEST(PythonText, WritesNumbersAsPythonDoes) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(python_text({0.0, -0.0, 1e15, 1e16, 1e-4, 1e-5, 0.1, infinity, 7, true, nullptr}),
            "[0.0, -0.0, 1000000000000000.0, 1e+16, 0.0001, 1e-05, 0.1, null, 7, true, null]");
  EXPECT_EQ(python_text(nlohmann::ordered_json::array()), "[]");
  EXPECT_EQ(python_text({{"b", "\"\n"}, {"a", nlohmann::ordered_json::object()}}), R"({"b": "\"\n", "a": {}})");
}

TEST(AlignmentFormat, TextGridsCoverTheWholeRecording) {
  const Transcript transcript{
      .duration = 3.5,
      .segments = {
          {.start = 0.5, .end = 1.5, .text = " say \"a\"", .words = {{" say", 0.5, 1, 1}, {" \"a\"", 1, 1.5, 1}}},
          {.start = kNan, .end = kNan, .text = "nothing", .words = {{" nothing", kNan, kNan}}},
          {.start = 1.2, .end = 2, .text = "b", .words = {{"b", 1.2, 2, 1}}}}};
  EXPECT_EQ(format_alignment(transcript, AlignmentFormat::textgrid), R"(File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 3.5
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "words"
        xmin = 0
        xmax = 3.5
        intervals: size = 5
        intervals [1]:
            xmin = 0
            xmax = 0.5
            text = ""
        intervals [2]:
            xmin = 0.5
            xmax = 1
            text = "say"
        intervals [3]:
            xmin = 1
            xmax = 1.5
            text = """a"""
        intervals [4]:
            xmin = 1.5
            xmax = 2
            text = "b"
        intervals [5]:
            xmin = 2
            xmax = 3.5
            text = ""
    item [2]:
        class = "IntervalTier"
        name = "lines"
        xmin = 0
        xmax = 3.5
        intervals: size = 4
        intervals [1]:
            xmin = 0
            xmax = 0.5
            text = ""
        intervals [2]:
            xmin = 0.5
            xmax = 1.5
            text = "say ""a"""
        intervals [3]:
            xmin = 1.5
            xmax = 2
            text = "b"
        intervals [4]:
            xmin = 2
            xmax = 3.5
            text = ""
)");
}

TEST(AlignmentFormat, AlignmentsNameTheWordsWithoutTimes) {
  const Transcript alignment{
      .text = "one two\nthree",
      .language = "en",
      .duration = 2,
      .segments = {
          {.id = 0, .start = 0.5, .end = 1, .text = "one two", .words = {{" one", 0.5, 1, 0.9}, {" two", kNan, kNan}}},
          {.id = 1, .start = kNan, .end = kNan, .text = "three", .words = {{" three", kNan, kNan}}}}};
  EXPECT_EQ(format_alignment(alignment, AlignmentFormat::json),
            R"({"text": "one two\nthree", "language": "en", "duration": 2.0, )"
            R"("words": [{"word": "one", "start": 0.5, "end": 1.0, "probability": 0.9}], )"
            R"("unaligned": [{"word": "two", "index": 1, "segment": 0}, {"word": "three", "index": 2, "segment": 1}], )"
            R"("segments": [{"id": 0, "start": 0.5, "end": 1.0, "text": "one two"}, )"
            R"({"id": 1, "start": null, "end": null, "text": "three"}]})");
  EXPECT_EQ(format_alignment(alignment, AlignmentFormat::srt), "1\n00:00:00,500 --> 00:00:01,000\none two\n\n");
  EXPECT_EQ(format_alignment(alignment, AlignmentFormat::tsv), "start\tend\ttext\n500\t1000\tone two\n");
}

}  // namespace
}  // namespace encdec
