#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tools/translation/tests/documents/upper_case.h"

namespace encdec {
namespace {

using Format = DocumentFormat;
using testing::ElementsAre;

// Returns subtitles of one second each, with pauses of `gap` seconds.
std::string srt(const std::vector<std::string>& texts, int gap = 0) {
  std::string file;
  int second = 0;
  for (const std::string& text : texts) {
    file += "1\n00:00:" + std::to_string(10 + second) + ",000 --> 00:00:" + std::to_string(11 + second) + ",000\n" +
            text + "\n\n";
    second += 1 + gap;
  }
  return file;
}

TEST(Subtitles, OfOneSentenceAreOneSegment) {
  const Document document =
      Document::parse(srt({"We went", "to the", "house. Then", "it rained."}), Format::srt, "file");
  ASSERT_EQ(document.segments().size(), 1u);
  const Segment& segment = document.segments()[0];
  EXPECT_EQ(segment.text, "We went to the house. Then it rained.");
  EXPECT_THAT(segment.cuts,
              ElementsAre(Cut{.position = 8, .share_before = 0.25}, Cut{.position = 15, .share_before = 0.5},
                          Cut{.position = 27, .share_before = 0.75}));
}

using Texts = std::vector<std::string>;

TEST(Subtitles, AreNotJoinedAcrossTheEndOfASentenceSpeakersMusicAndSigns) {
  const std::pair<Texts, Texts> rows[] = {
      {{"It is.", "so what"}, {"It is.", "so what"}},
      {{"It is.\"", "so what"}, {"It is.\"", "so what"}},
      {{"Call Mr.", "Smith"}, {"Call Mr. Smith"}},
      {{"It is...", "what it is"}, {"It is... what it is"}},
      {{"It is...", "What?"}, {"It is...", "What?"}},
      {{"We went", "- home"}, {"We went", "- home"}},
      {{"We went", "JOHN: home"}, {"We went", "JOHN: home"}},
      {{"We went", "\u266a la"}, {"We went", "\u266a la"}},
      {{"We went", "EXIT", "home"}, {"We went", "EXIT", "home"}},
      {{"We went", "\u266a", "home"}, {"We went", "home"}},
      {{"- Who is\nthere?\n- Me."}, {"- Who is there?", "- Me."}},
  };
  for (const auto& [subtitles, texts] : rows) EXPECT_EQ(texts_of(srt(subtitles), Format::srt), texts);
  EXPECT_THAT(texts_of(srt({"We went", "home"}, 3), Format::srt), ElementsAre("We went", "home"));  // a pause
}

TEST(Subtitles, GetThePartsBetweenTheCuts) {
  const std::string file = srt({"We <i>went</i>", "home"});
  const Document document = Document::parse(file, Format::srt, "file");
  Segment translation{.text = "Wir sind heim gegangen", .codes = document.segments()[0].codes};
  translation.codes[0].position = 14;
  translation.codes[1].position = 22;
  translation.cuts = {{.position = 14, .share_before = 0.5}};
  EXPECT_EQ(document.write(std::vector{translation}).bytes, srt({"Wir sind heim", "<i>gegangen</i>"}));
}

TEST(Subtitles, AreCutByTimeAndWrappedIfTheyWereOrAreTooLong) {
  const auto translated = [](const Texts& texts, const std::string& first, const DocumentOptions& options = {}) {
    return with_first_text(srt(texts), Format::srt, first, options).bytes;
  };
  EXPECT_EQ(translated({"We", "all", "went"}, "Wir gingen alle"), srt({"Wir", "gingen", "alle"}));
  EXPECT_EQ(translated({"Two\nlines"}, "In zwei Zeilen steht der Text"), srt({"In zwei Zeilen\nsteht der Text"}));
  EXPECT_EQ(translated({"One line"}, "Diese Zeile ist in der anderen Sprache viel zu lang"),
            srt({"Diese Zeile ist in der\nanderen Sprache viel zu lang"}));
  EXPECT_EQ(translated({"One line"}, "Eine Zeile", {.line_width = 6}), srt({"Eine\nZeile"}));
  const std::string line = times("\u5b57", 10);  // Chinese: 16 characters per line
  EXPECT_EQ(translated({"One line"}, line + line, {.target_language = "zh"}), srt({line + "\n" + line}));
}

TEST(Subtitles, MayHaveEmptyLinesAndNoOrWrongNumbers) {
  const std::string first = "00:00:01,000 --> 00:00:02,000\n", second = "00:00:03,000 --> 00:00:04,000\n";
  EXPECT_EQ(in_upper_case(first + "One\n\ntwo.\n\n" + second + "3 is\n\n\n", Format::srt),
            first + "ONE TWO.\n\n" + second + "3 IS\n\n\n");
  EXPECT_EQ(in_upper_case(first + "one.\n\n2a\n" + second + "two\n", Format::srt),
            first + "ONE.\n\n2a\n" + second + "TWO\n");
}

TEST(Subtitles, HaveTimesThatAreReadOrRefused) {
  for (const char* times :
       {"0:00:05,200.0000000000582 --> 00:00:07,000", "00:00:05:000 --> 00:00:07:000", "-00:00:01,000 --> 00:00:07,000",
        "00: 00: 05,000 -> 00: 00: 07,000", "00:00:05,000 -> 00:00:07,000", "00:00:05,000 00:00:07,000",
        "00:05,000 -> 00:07,000", "00:00:05,000 -->", "--> 00:00:07,000", "00:00:0S,000 --> 00:00:07,000", "a --> b"}) {
    for (const Format format : {Format::srt, Format::vtt}) {
      const std::string file =
          std::string(format == Format::vtt ? "WEBVTT\n" : "") + srt({"One."}) + "2\n" + times + "\nTwo.\n";
      EXPECT_EQ(message_of([&] { Document::parse(file, format, "file"); }),
                std::string("file: line ") + (format == Format::vtt ? "7" : "6") +
                    ", column 1: times that cannot be read, expected 00:00:01,000 --> 00:00:02,000")
          << times;
    }
  }
  for (const char* text : {"Open from 10:30 to 11:45: no, 12:30!", "10:30 - 11:45", "a -> b: c: d", ":::: ->"}) {
    EXPECT_NO_THROW(Document::parse(srt({text}), Format::srt, "file")) << text;
  }
}

TEST(Subtitles, OfWebVttKeepReadingsAndSpeakersAndDropTimesInsideText) {
  const std::string cue = "WEBVTT\n\n01:00.000 --> 01:01.000\n";
  EXPECT_THAT(texts_of(cue + "<ruby>the<rt>cat</rt></ruby> dog\n", Format::vtt), ElementsAre("the dog"));
  EXPECT_EQ(in_upper_case(cue + "<ruby>the<rt>cat</rt></ruby> dog\n", Format::vtt),
            cue + "<ruby>THE<rt>cat</rt></ruby> DOG\n");
  EXPECT_THAT(texts_of(cue + "R&D &amp; 1 < 2 &n&nbsp;b &eacute;\n", Format::vtt),
              ElementsAre("R&D & 1 < 2 &n\u00a0b \u00e9"));
  const std::string file = cue + "<v.loud Al Smith>I <c.red>am</c> <01:00.500>here</v>\n";
  EXPECT_THAT(texts_of(file, Format::vtt), ElementsAre("I am here"));
  EXPECT_EQ(with_first_text(file, Format::vtt, "Da < ich").bytes,
            cue + "<v.loud Al Smith>Da &lt; ich<c.red></c></v>\n");
}

}  // namespace
}  // namespace encdec
