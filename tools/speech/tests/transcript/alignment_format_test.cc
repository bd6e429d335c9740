#include "encdec/speech/transcript/alignment_format.h"

#include <gtest/gtest.h>

#include <limits>

namespace encdec {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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
