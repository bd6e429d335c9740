// Translation with the planted student of tests/golden/students, which translates each piece of its vocabulary to a
// partner, in order, and back again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "encdec/translation/translation_job.h"

namespace encdec {
namespace {

using testing::ElementsAre;

struct Students {
  Students() {
    for (const char* languages : {"de:en", "en:fr"}) routes.add(ModelLanguages::parse(languages));
    std::ifstream file(ENCDEC_GOLDEN_DIR "/students/planted/texts.txt");
    for (std::string line; std::getline(file, line);) sentences.push_back(line.substr(0, line.find('\t')));
  }

  std::vector<Model> all = std::vector(2, Model::load(ENCDEC_GOLDEN_DIR "/students/planted/model"));
  TranslationRoutes routes;
  std::vector<std::string> sentences;
};

const Students& students() {
  static const Students loaded;
  return loaded;
}

Translation by_students(Segment segment, const std::string& target, std::shared_ptr<const Glossary> glossary = {}) {
  TranslationJob job(students().all, students().routes,
                     {.source = "de", .target = target, .glossary = std::move(glossary)});
  job.add(std::move(segment));
  return translate(students().all, job).front();
}

// Returns the beginning of each word, then the end of the text and one more.
std::vector<std::size_t> word_places(const std::string& text) {
  std::vector<std::size_t> places = {0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') places.push_back(i + 1);
  }
  places.push_back(text.size() + 1);
  return places;
}

TEST(Students, ThereAndBackThroughAnotherLanguageIsTheIdentity) {
  ASSERT_EQ(students().sentences.size(), 8u);
  for (const std::string& text : students().sentences) {
    const Translation result = by_students({.text = text}, "fr");
    EXPECT_EQ(result.segment.text, text);
    EXPECT_THAT(result.route, ElementsAre("de", "en", "fr"));
  }
}

TEST(Students, CodesStandAroundTheSameWords) {
  std::mt19937 random(1);
  for (const char* target : {"en", "fr"}) {
    for (const std::string& text : students().sentences) {
      const std::vector<std::size_t> words = word_places(text);
      const std::size_t count = words.size() - 1, first = random() % count,
                        last = first + 1 + random() % (count - first);
      const Segment source{.text = text,
                           .codes = {{.place = words[first], .markup = "<b>", .partner = 1},
                                     {.place = words[last] - 1, .markup = "</b>", .partner = 0}}};
      const Segment result = by_students(source, target).segment;
      const std::vector<std::size_t> now = word_places(result.text);
      ASSERT_EQ(now.size(), words.size()) << text;
      EXPECT_EQ(result.codes[0].place, now[first]) << text;
      EXPECT_EQ(result.codes[1].place, now[last] - 1) << text;
    }
  }
}

TEST(Students, CutsStayBetweenTheSameWords) {
  for (const std::string& text : students().sentences) {
    const std::vector<std::size_t> words = word_places(text);
    Segment source{.text = text};
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
      const double share = static_cast<double>(words[i]) / static_cast<double>(text.size());
      source.cuts.push_back({.place = words[i], .share_before = share});
    }
    for (const char* target : {"en", "fr"}) {
      const Segment result = by_students(source, target).segment;
      const std::vector<std::size_t> now = word_places(result.text);
      for (std::size_t i = 0; i < source.cuts.size(); ++i) EXPECT_EQ(result.cuts[i].place, now[2 * i + 1]) << text;
    }
  }
}

TEST(Students, WordsToKeepComeOutOnceAndWhole) {
  std::mt19937 random(3);
  for (const std::string& text : students().sentences) {
    for (const std::string kept : {"%s", "{name}", "https://a.example/b?c=1", "%1$d", "<x id=\"1\"/>"}) {
      const std::vector<std::size_t> words = word_places(text);
      const std::size_t at = random() % (words.size() - 1);
      Segment source{.text = text.substr(0, words[at]) + kept + " " + text.substr(words[at])};
      source.placeholders = {{.begin = words[at], .end = words[at] + kept.size()}};
      const Segment result = by_students(source, "fr").segment;
      ASSERT_EQ(result.placeholders.size(), 1u);
      const Placeholder& now = result.placeholders.front();
      EXPECT_EQ(result.text.substr(now.begin, now.end - now.begin), kept);
      EXPECT_EQ(result.text.find(kept), result.text.rfind(kept)) << result.text;
    }
  }
}

TEST(Students, TermsOfAGlossaryStandWhereTheirWordsStood) {
  for (const std::string& text : students().sentences) {
    const std::vector<std::size_t> words = word_places(text);
    if (words.size() < 4) continue;
    auto glossary = std::make_shared<Glossary>();
    glossary->add(text.substr(words[1], words[2] - words[1] - 1), "Zellwand");
    for (const char* target : {"en", "fr"}) {
      const Translation result = by_students({.text = text}, target, glossary);
      const std::vector<std::size_t> now = word_places(result.segment.text);
      ASSERT_EQ(now.size(), words.size());
      EXPECT_TRUE(result.segment.text.substr(now[1]).starts_with("Zellwand")) << result.segment.text;
      ASSERT_FALSE(result.terms.empty());
      EXPECT_EQ(result.terms.front().method, TermReport::Method::alignment);
    }
  }
}

// Returns `count` words of the sentences, without stops.
std::string words_without_stops(std::size_t count, std::mt19937& random) {
  std::vector<std::string> words;
  for (const std::string& sentence : students().sentences) {
    std::istringstream stream(sentence);
    for (std::string word; stream >> word;) {
      if (!word.ends_with('.')) words.push_back(word);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? " " : "") + words[random() % words.size()];
  return text;
}

TEST(Students, NothingOfALongSentenceIsLost) {
  std::mt19937 random(5);
  for (const std::size_t count : {300u, 600u, 3000u}) {
    const std::string text = words_without_stops(count, random);
    const Translation result = by_students({.text = text}, "fr");
    EXPECT_EQ(result.segment.text, text);
    EXPECT_EQ(result.problem, "");
  }
}

TEST(Students, ALongSentenceIsNotCutInAWordToKeep) {
  std::mt19937 random(7);
  const std::string kept = "f(bjkf, hl, cmc)", text = words_without_stops(70, random);
  const std::string whole = text + " " + kept + " " + text;
  const Segment source{.text = whole,
                       .placeholders = {{.begin = text.size() + 1, .end = text.size() + 1 + kept.size()}}};
  const Segment result = by_students(source, "fr").segment;
  EXPECT_EQ(result.text, whole);
  ASSERT_EQ(result.placeholders.size(), 1u);
  EXPECT_EQ(result.text.substr(result.placeholders[0].begin, kept.size()), kept);
}

TEST(Students, HalvesHaveTheMarksOfTheWhole) {
  std::mt19937 random(6);
  for (int round = 0; round < 10; ++round) {
    const std::string text = words_without_stops(24, random);
    const std::vector<std::size_t> words = word_places(text);
    const std::size_t first = random() % 24, last = first + 1 + random() % (24 - first);
    const Segment source{.text = text,
                         .codes = {{.place = words[first], .markup = "<b>", .partner = 1},
                                   {.place = words[last] - 1, .markup = "</b>", .partner = 0}},
                         .cuts = {{.place = words[12], .share_before = 0.5}}};
    for (const char* target : {"en", "fr"}) {
      TranslateOptions options{.source = "de", .target = target};
      const auto translated = [&] {
        TranslationJob job(students().all, students().routes, options);
        job.add(source);
        return translate(students().all, job).front();
      };
      const Translation whole = translated();
      options.generate.max_length_factor = 0.8F;  // so each result of more than 20 tokens reaches the limit
      const Translation halves = translated();
      EXPECT_EQ(halves.segment.text, whole.segment.text);
      EXPECT_EQ(halves.segment.codes, whole.segment.codes);
      EXPECT_EQ(halves.segment.cuts, whole.segment.cuts);
      EXPECT_EQ(halves.problem, "");
    }
  }
}

}  // namespace
}  // namespace encdec
