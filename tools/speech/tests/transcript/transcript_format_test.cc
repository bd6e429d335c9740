#include "encdec/speech/transcript/transcript_format.h"

#include <gtest/gtest.h>

#include <limits>

#include "tools/speech/tests/transcript/word_golden.h"

namespace encdec {
namespace {

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

Transcript one_segment(const TranscriptSegment& segment) {
  return {.text = segment.text, .language = "en", .segments = {segment}};
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

TEST(TranscriptFormat, WordsInSegmentsAreWrittenWithoutAnOption) {
  for (const auto& golden : golden_speech("transcripts")) {
    const Transcript transcript = transcript_from(golden.at("transcript"));
    if (transcript.segments.empty() || transcript.segments.back().words.empty()) continue;
    EXPECT_EQ(format(transcript, TranscriptFormat::json), format(transcript, TranscriptFormat::json, {true}));
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
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Transcript transcript = one_segment(
      {.start = -1, .end = nan, .text = " a\xff\xe6", .no_speech_prob = nan, .words = {{"\xe6", nan, 1, 1}}});
  const auto json = nlohmann::json::parse(format(transcript, TranscriptFormat::json));
  EXPECT_TRUE(json.at("segments")[0].at("no_speech_prob").is_null());
  EXPECT_EQ(json.at("text"), " a\uFFFD\uFFFD");
  EXPECT_EQ(format(transcript, TranscriptFormat::vtt), "WEBVTT\n\n00:00.000 --> 00:01.000\n\uFFFD\n\n");
  EXPECT_EQ(format(transcript, TranscriptFormat::tsv), "start\tend\ttext\n0\t0\ta\uFFFD\uFFFD\n");
}

TEST(TranscriptFormat, NamesAreFileExtensions) {
  EXPECT_EQ(names_of(kTranscriptFormats), (std::vector<std::string>{"txt", "vtt", "srt", "tsv", "json", "lrc"}));
}

}  // namespace
}  // namespace encdec
