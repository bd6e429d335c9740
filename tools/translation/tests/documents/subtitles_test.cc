#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tools/translation/tests/documents/upper_case.h"

namespace encdec {
namespace {

using Format = DocumentFormat;
using testing::ElementsAre;

// Returns subtitles of one second each, with `gap` seconds between them.
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
  EXPECT_THAT(segment.cuts, ElementsAre(Cut{.place = 8, .share_before = 0.25}, Cut{.place = 15, .share_before = 0.5},
                                        Cut{.place = 27, .share_before = 0.75}));
}

TEST(Subtitles, AreNotJoinedAcrossTheEndOfASentence) {
  EXPECT_THAT(texts_of(srt({"It is.", "so what"}), Format::srt), ElementsAre("It is.", "so what"));
  EXPECT_THAT(texts_of(srt({"It is.\"", "so what"}), Format::srt), ElementsAre("It is.\"", "so what"));
  EXPECT_THAT(texts_of(srt({"Call Mr.", "Smith"}), Format::srt), ElementsAre("Call Mr. Smith"));
  EXPECT_THAT(texts_of(srt({"It is...", "what it is"}), Format::srt), ElementsAre("It is... what it is"));
  EXPECT_THAT(texts_of(srt({"It is...", "What?"}), Format::srt), ElementsAre("It is...", "What?"));
}

TEST(Subtitles, AreNotJoinedAcrossPausesSpeakersMusicAndSigns) {
  EXPECT_THAT(texts_of(srt({"We went", "home"}, 3), Format::srt), ElementsAre("We went", "home"));
  EXPECT_THAT(texts_of(srt({"We went", "- home"}), Format::srt), ElementsAre("We went", "- home"));
  EXPECT_THAT(texts_of(srt({"We went", "JOHN: home"}), Format::srt), ElementsAre("We went", "JOHN: home"));
  EXPECT_THAT(texts_of(srt({"We went", "\u266a la"}), Format::srt), ElementsAre("We went", "\u266a la"));
  EXPECT_THAT(texts_of(srt({"We went", "EXIT", "home"}), Format::srt), ElementsAre("We went", "EXIT", "home"));
  EXPECT_THAT(texts_of(srt({"We went", "\u266a", "home"}), Format::srt), ElementsAre("We went", "home"));
}

TEST(Subtitles, OfADialogueAreASegmentEach) {
  EXPECT_THAT(texts_of(srt({"- Who is\nthere?\n- Me."}), Format::srt), ElementsAre("- Who is there?", "- Me."));
}

TEST(Subtitles, GetThePartsBetweenTheCuts) {
  const std::string file = srt({"We <i>went</i>", "home"});
  const Document document = Document::parse(file, Format::srt, "file");
  Segment translation{.text = "Wir sind heim gegangen", .codes = document.segments()[0].codes};
  translation.codes[0].place = 14;
  translation.codes[1].place = 22;
  translation.cuts = {{.place = 14, .share_before = 0.5}};
  EXPECT_EQ(document.write(std::vector{translation}).bytes, srt({"Wir sind heim", "<i>gegangen</i>"}));
}

TEST(Subtitles, AreCutByTimeIfTheCutsAreMissing) {
  EXPECT_EQ(with_first_text(srt({"We", "all", "went"}), Format::srt, "Wir gingen alle").bytes,
            srt({"Wir", "gingen", "alle"}));
}

TEST(Subtitles, AreWrappedIfTheyWereOrAreTooLong) {
  EXPECT_EQ(with_first_text(srt({"Two\nlines"}), Format::srt, "In zwei Zeilen steht der Text").bytes,
            srt({"In zwei Zeilen\nsteht der Text"}));
  EXPECT_EQ(
      with_first_text(srt({"One line"}), Format::srt, "Diese Zeile ist in der anderen Sprache viel zu lang").bytes,
      srt({"Diese Zeile ist in der\nanderen Sprache viel zu lang"}));
  EXPECT_EQ(with_first_text(srt({"One line"}), Format::srt, "Eine Zeile", {.line_width = 6}).bytes,
            srt({"Eine\nZeile"}));
}

TEST(Subtitles, InChineseAreWrappedAfter16Characters) {
  std::string text, line;
  for (int i = 0; i < 10; ++i) line += "\u5b57";
  EXPECT_EQ(with_first_text(srt({"One line"}), Format::srt, line + line, {.target_language = "zh"}).bytes,
            srt({line + "\n" + line}));
}

TEST(Subtitles, MayHaveEmptyLinesAndNoNumbers) {
  const std::string file = "00:00:01,000 --> 00:00:02,000\nOne\n\ntwo.\n\n00:00:03,000 --> 00:00:04,000\n3 is\n\n\n";
  EXPECT_THAT(texts_of(file, Format::srt), ElementsAre("One two.", "3 is"));
  EXPECT_EQ(in_upper_case(file, Format::srt),
            "00:00:01,000 --> 00:00:02,000\nONE TWO.\n\n00:00:03,000 --> 00:00:04,000\n3 IS\n\n\n");
}

TEST(Subtitles, MayHaveWrongNumbers) {
  const std::string file = "00:00:01,000 --> 00:00:02,000\none.\n\n2a\n00:00:03,000 --> 00:00:04,000\ntwo\n";
  EXPECT_EQ(in_upper_case(file, Format::srt),
            "00:00:01,000 --> 00:00:02,000\nONE.\n\n2a\n00:00:03,000 --> 00:00:04,000\nTWO\n");
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

TEST(Subtitles, OfWebVttKeepReadings) {
  const std::string file = "WEBVTT\n\n01:00.000 --> 01:01.000\n<ruby>the<rt>cat</rt></ruby> dog\n";
  EXPECT_THAT(texts_of(file, Format::vtt), ElementsAre("the dog"));
  EXPECT_EQ(in_upper_case(file, Format::vtt), "WEBVTT\n\n01:00.000 --> 01:01.000\n<ruby>THE<rt>cat</rt></ruby> DOG\n");
}

TEST(Subtitles, OfWebVttHaveTheEntitiesOfHtml) {
  EXPECT_THAT(texts_of("WEBVTT\n\n01:00.000 --> 01:01.000\nR&D &amp; 1 < 2 &n&nbsp;b &eacute;\n", Format::vtt),
              ElementsAre("R&D & 1 < 2 &n\u00a0b \u00e9"));
}

TEST(Subtitles, OfWebVttKeepSpeakersAndDropTimesInsideText) {
  const std::string file = "WEBVTT\n\n01:00.000 --> 01:01.000\n<v.loud Al Smith>I <c.red>am</c> <01:00.500>here</v>\n";
  EXPECT_THAT(texts_of(file, Format::vtt), ElementsAre("I am here"));
  EXPECT_EQ(with_first_text(file, Format::vtt, "Da < ich").bytes,
            "WEBVTT\n\n01:00.000 --> 01:01.000\n<v.loud Al Smith>Da &lt; ich<c.red></c></v>\n");
}

}  // namespace
}  // namespace encdec
