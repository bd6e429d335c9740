#include "encdec/translation/translation_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A model that spells words in sounds, and a model with random weights behind it.
struct Models {
  std::vector<Model> all = {Model::load(ENCDEC_PRETRAINED_DIR "/english-pronunciation"),
                            Model::load(ENCDEC_GOLDEN_DIR "/marian/text/model")};
  TranslationRoutes routes = [] {
    TranslationRoutes added;
    for (const char* languages : {"en:arpabet", "arpabet:fr"}) added.add(ModelLanguages::parse(languages));
    return added;
  }();
};

const Models& models() {
  static const Models loaded;
  return loaded;
}

TranslationJob job_for(const TranslateOptions& options) {
  return {models().all, models().routes, options};
}

template <class Text>
Translation translated(const Text& text, const TranslateOptions& options) {
  TranslationJob job = job_for(options);
  job.add(text);
  return translate(models().all, job).front();
}

std::string generated(std::size_t model, const std::string& text) {
  return models().all[model].generate({text}).front().hypotheses.front().text;
}

TEST(TranslationJob, TranslatesSentenceBySentence) {
  const Translation result = translated(std::string("  A cat. A dog.\n"), {.source = "EN-us", .target = "arpabet"});
  EXPECT_EQ(result.text, "  " + generated(0, "A cat.") + " " + generated(0, "A dog.") + "\n");
  EXPECT_THAT(result.route, ElementsAre("en", "arpabet"));
}

TEST(TranslationJob, GoesThroughAnotherLanguageWithTheSameSentences) {
  const std::string middle = generated(0, "A cat."), other = generated(0, "Dog");
  const Translation result = translated(std::string("A cat. Dog"), {.source = "en", .target = "fr"});
  EXPECT_EQ(result.text, generated(1, middle) + " " + generated(1, other));
  EXPECT_THAT(result.route, ElementsAre("en", "arpabet", "fr"));
}

GenerateResult result_of(const std::string& text) {
  return {.hypotheses = {{.text = text}}};
}

TEST(TranslationJob, CutsATextBetweenThatIsTooLongForTheSecondModel) {
  TranslationJob job = job_for({.source = "en", .target = "fr"});
  job.add(std::string("cat"));
  EXPECT_EQ(job.next().front().inputs.size(), 1u);
  std::string middle = "K AE1 T";
  for (int i = 0; i < 100; ++i) middle += ", K AE1 T";
  job.take(0, 0, result_of(middle));
  const std::vector<GenerateInput> parts = job.next().front().inputs;
  EXPECT_GT(parts.size(), 1u);
  std::string joined, wanted;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& part = std::get<std::string>(parts[i].source);
    EXPECT_LE(models().all[1].tokenizer()->encode(part).size(), 512u);
    joined += (i > 0 ? " " : "") + part;
    wanted += (i > 0 ? " " : "") + std::to_string(i);
    job.take(0, i, result_of(std::to_string(i)));
  }
  EXPECT_EQ(joined, middle);
  EXPECT_TRUE(job.next().empty());
  EXPECT_EQ(job.results().front().text, wanted);
}

TEST(TranslationJob, CutsATextByWhatTheModelCanWrite) {
  std::string text = "cat";
  for (int i = 0; i < 50; ++i) text += " cat";
  TranslationJob job = job_for({.source = "en", .target = "arpabet"});
  job.add(text);
  std::string joined;
  const std::vector<GenerateInput> inputs = job.next().front().inputs;
  for (const GenerateInput& input : inputs) {
    const std::string& part = std::get<std::string>(input.source);
    EXPECT_LE(models().all[0].tokenizer()->encode(part).size(), 63u);  // max_length 64 with the start token
    joined += (joined.empty() ? "" : " ") + part;
  }
  EXPECT_EQ(joined, text);
}

// Answers the inputs of a job: with their texts in upper case or, where `is_too_long` says so, with the first word and
// a limit of tokens. Returns the texts of the inputs.
template <class IsTooLong>
std::vector<std::string> answer(TranslationJob& job, const IsTooLong& is_too_long) {
  std::vector<std::string> texts;
  for (auto batches = job.next(); !batches.empty(); batches = job.next()) {
    for (std::size_t batch = 0; batch < batches.size(); ++batch) {
      for (std::size_t i = 0; i < batches[batch].inputs.size(); ++i) {
        std::string text = std::get<std::string>(batches[batch].inputs[i].source);
        texts.push_back(text);
        GenerateResult result{.hypotheses = {{.finish_reason = FinishReason::stop}}};
        if (is_too_long(text)) {
          result.hypotheses.front().finish_reason = FinishReason::length;
          text.resize(text.find(' '));
        }
        for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        result.hypotheses.front().text = text;
        job.take(batch, i, std::move(result));
      }
    }
  }
  return texts;
}

TEST(TranslationJob, TranslatesInHalvesWhatReachedTheLimit) {
  TranslationJob job = job_for({.source = "en", .target = "arpabet"});
  for (const char* text : {"six small cats", "one two three four five six seven, eight nine"})
    job.add(std::string(text));
  const auto texts = answer(job, [](const std::string& text) { return text.size() > 20; });
  EXPECT_THAT(texts,
              ElementsAre("six small cats", "one two three four five six seven, eight nine",
                          "one two three four five six seven,", "eight nine", "one two three four", "five six seven,"));
  const std::vector<Translation> all = job.results();
  EXPECT_EQ(all[1].text, "ONE TWO THREE FOUR FIVE SIX SEVEN, EIGHT NINE");
  EXPECT_EQ(all[1].problem, "");
}

TEST(TranslationJob, ATranslationThatNeverEndsIsTriedFifteenTimesAndTold) {
  TranslationJob job = job_for({.source = "en", .target = "arpabet"});
  std::string text = "first";
  for (int i = 0; i < 15; ++i) text += " あああああああああ";  // few tokens, and 400 bytes
  job.add(text);
  job.add(std::string("cat"));
  EXPECT_EQ(answer(job, [](const std::string& part) { return part != "cat"; }).size(), 16u);
  const std::vector<Translation> all = job.results();
  EXPECT_EQ(all[0].text, "FIRST");
  EXPECT_EQ(all[0].problem, kCutOff);
  EXPECT_EQ(all[1].problem, "");
}

TEST(TranslationJob, UsesTheHalfThatEnds) {
  TranslationJob job = job_for({.source = "en", .target = "arpabet"});
  job.add(std::string("one two three four, five six seven"));
  answer(job, [](const std::string& part) { return part.starts_with("one"); });
  const Translation result = job.results().front();
  EXPECT_EQ(result.text, "ONE FIVE SIX SEVEN");
  EXPECT_EQ(result.problem, kCutOff);
}

TEST(TranslationJob, LeavesOutAlternativesWithoutAnEnd) {
  TranslationJob job = job_for({.source = "en", .target = "arpabet", .alternatives = 2});
  job.add(std::string("cat"));
  job.next();
  job.take(0, 0, {.hypotheses = {{.text = "a"}, {.text = "b", .finish_reason = FinishReason::length}, {.text = "c"}}});
  EXPECT_THAT(job.results().front().alternatives, ElementsAre("c", "c"));
}

TEST(TranslationJob, TakesResultsInAnyOrder) {
  const TranslateOptions options{.source = "en", .target = "fr", .alternatives = 1};
  TranslationJob job = job_for(options);
  const std::vector<std::string> texts = {"A cat. A dog.", "bird", "", " \n"};
  for (const std::string& text : texts) job.add(text);
  EXPECT_EQ(job.sentences(), 4u);
  std::size_t rounds = 0;
  for (auto batches = job.next(); !batches.empty(); batches = job.next()) {
    EXPECT_EQ(batches.size(), 1u);
    EXPECT_EQ(batches.front().model, rounds++);
    EXPECT_EQ(batches.front().options.num_return_sequences.value_or(1), rounds == 2 ? 2 : 1);
    std::vector<GenerateResult> results =
        models().all[batches[0].model].generate_inputs(batches[0].inputs, batches[0].options);
    for (std::size_t i = results.size(); i-- > 0;) job.take(0, i, std::move(results[i]));
  }
  EXPECT_EQ(rounds, 2u);
  const std::vector<Translation> all = job.results();
  ASSERT_EQ(all.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Translation alone = translated(texts[i], options);
    EXPECT_EQ(all[i].text, alone.text);
    EXPECT_EQ(all[i].alternatives, alone.alternatives);
  }
  EXPECT_NE(all[0].text, all[0].alternatives.front());
}

TEST(TranslationJob, KeepsTagsOnEachRoute) {
  for (const char* target : {"arpabet", "fr"}) {
    const Translation result = translated(std::string("<p>photo<b>graphy</b> &amp; <i>cat</i></p>"),
                                          {.source = "en", .target = target, .is_html = true});
    for (const char* tag : {"<p>", "<b>", "</b>", "<i>", "</i>", "</p>"}) EXPECT_THAT(result.text, HasSubstr(tag));
  }
  EXPECT_EQ(translated(std::string("photo<b>graphy</b>"), {.source = "en", .target = "arpabet", .is_html = true}).text,
            "F AH0 T AA1 <b>G R AH0 F IY0</b>");
}

TEST(TranslationJob, GivesASegmentItsCodesAndTheirPartners) {
  const Segment source{.text = "photography. Cat",
                       .codes = {{.place = 5, .markup = "<b>", .partner = 1},
                                 {.place = 11, .markup = "</b>", .partner = 0},
                                 {.place = 16, .markup = "<br>"}}};
  const Segment target = translated(source, {.source = "en", .target = "arpabet"}).segment;
  EXPECT_EQ(target.text, generated(0, "photography.") + " " + generated(0, "Cat"));
  ASSERT_EQ(target.codes.size(), 3u);
  EXPECT_EQ(target.text.substr(target.codes[0].place, target.codes[1].place - target.codes[0].place), "G R AH0 F IY0");
  EXPECT_EQ(target.codes[0].partner, 1u);
  EXPECT_EQ(target.codes[1].partner, 0u);
  EXPECT_EQ(target.codes[2].place, target.text.size());
}

// Returns the placeholders of a text, which are written <x>.
Segment with_placeholders(std::string text) {
  Segment segment;
  for (std::size_t begin = text.find('<'); begin != std::string::npos; begin = text.find('<')) {
    text.erase(begin, 1);
    const std::size_t end = text.find('>');
    text.erase(end, 1);
    segment.placeholders.push_back({.begin = begin, .end = end, .markup = "m" + std::to_string(begin)});
  }
  segment.text = std::move(text);
  return segment;
}

TEST(TranslationJob, KeepsPlaceholders) {
  // This model copies neither placeholders nor other words, so they are put in by alignment.
  for (const char* target : {"arpabet", "fr"}) {
    for (const char* text : {"photography <%s> cat", "<%s> cat", "cat <%s>", "<%s>", "<%s> <{0}>", "cat <%s> dog <%s>.",
                             "Cat. Dog <http://a.b/c>: cat (<%d>)"}) {
      const Segment source = with_placeholders(text);
      const Translation result = translated(source, {.source = "en", .target = target});
      const Segment& segment = result.segment;
      ASSERT_EQ(segment.placeholders.size(), source.placeholders.size()) << text;
      for (std::size_t i = 0; i < source.placeholders.size(); ++i) {
        const auto text_of = [](const Segment& from, const Placeholder& kept) {
          return from.text.substr(kept.begin, kept.end - kept.begin);
        };
        const auto same = std::ranges::find(segment.placeholders, source.placeholders[i].markup, &Placeholder::markup);
        ASSERT_NE(same, segment.placeholders.end());
        EXPECT_EQ(text_of(segment, *same), text_of(source, source.placeholders[i])) << segment.text;
      }
      for (const TermReport& report : result.terms) EXPECT_EQ(report.method, TermReport::Method::alignment);
    }
  }
  EXPECT_EQ(translated(with_placeholders("photo <%s> cat"), {.source = "en", .target = "arpabet"}).segment.text,
            "F OW1 T OW0 %s K AE2 T");
  EXPECT_EQ(translated(with_placeholders("(<%s>)"), {.source = "en", .target = "arpabet"}).segment.text, "(%s)");
}

TEST(TranslationJob, ASentenceEndsInNoPlaceholder) {
  const Segment source = with_placeholders("Cat <a. B> dog. Cat");
  const Segment target = translated(source, {.source = "en", .target = "arpabet"}).segment;
  EXPECT_THAT(target.text, HasSubstr("a. B"));
  const Translation lost = translated(with_placeholders("Cat <a. >Dog"), {.source = "en", .target = "arpabet"});
  EXPECT_EQ(lost.segment.placeholders.size() + lost.terms.size(), 1u);
  // The time is proportional to the size.
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "A b. ";
  TranslationJob job = job_for({.source = "en", .target = "arpabet"});
  job.add(with_placeholders("Cat <" + many + "> dog."));
  EXPECT_LT(job.sentences(), 20'000u);
}

TEST(TranslationJob, WritesTheTermsOfAGlossary) {
  auto glossary = std::make_shared<Glossary>();
  glossary->parse("dog\tHUND\ncat\tK AE0 T\nbird\tbird\n", "a.tsv");
  const TranslateOptions options{.source = "en", .target = "arpabet", .glossary = glossary};
  const Translation result = translated(std::string("A dog. A cat. House. A bird."), options);
  EXPECT_THAT(result.text, HasSubstr("HUND"));
  EXPECT_THAT(result.text, HasSubstr(" " + generated(0, "House.") + " "));
  EXPECT_THAT(result.text, HasSubstr("bird"));
  ASSERT_EQ(result.terms.size(), 3u);
  EXPECT_EQ(result.terms[0].method, TermReport::Method::alignment);
  EXPECT_EQ(result.terms[0].source, "dog");
  EXPECT_EQ(result.terms[0].target, "HUND");
  EXPECT_EQ(result.terms[1].method, TermReport::Method::present);
  EXPECT_EQ(result.terms[2].method, TermReport::Method::alignment);
}

TEST(TranslationJob, ForcesTermsWhoseWordsAreApart) {
  std::set<TermReport::Method> methods;
  for (const char* word : {"cat", "dog", "photography", "house", "pronunciation", "bird"}) {
    auto glossary = std::make_shared<Glossary>();
    glossary->add(word, "book");
    const std::string text = "A photography cat and dog in house, pronunciation bird";
    const Translation result = translated(text, {.source = "arpabet", .target = "fr", .glossary = glossary});
    ASSERT_EQ(result.terms.size(), 1u);
    methods.insert(result.terms[0].method);
    EXPECT_EQ(result.text.find("book") == std::string::npos, result.terms[0].method == TermReport::Method::failed);
  }
  EXPECT_TRUE(methods.contains(TermReport::Method::forced));
}

TEST(TranslationJob, ForcesFewTermsOfASentence) {
  auto glossary = std::make_shared<Glossary>();
  std::string text;
  for (const char first : {'B', 'D', 'K', 'S', 'T'}) {
    for (const char last : {'b', 'd', 'g', 'n', 'p', 't'}) {
      const std::string word = std::string(1, first) + 'a' + last;
      glossary->add(word, std::string("ZH OY1 ") + first + " ZH " + static_cast<char>(last - 'a' + 'A'));
      text += word + ' ';
    }
  }
  TranslationJob job = job_for({.source = "en", .target = "arpabet", .glossary = glossary});
  job.add(text);
  for (std::vector<TranslationBatch> batches = job.next(); !batches.empty(); batches = job.next()) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const auto& [model, options, inputs] = batches[i];
      EXPECT_LE(options.num_beams.value_or(1), 16);
      std::vector<GenerateResult> results = models().all[model].generate_inputs(inputs, options);
      for (std::size_t input = 0; input < results.size(); ++input) job.take(i, input, std::move(results[input]));
    }
  }
  EXPECT_EQ(job.results().front().terms.size(), 30u);
}

TEST(TranslationJob, PlacesCutsByTheWords) {
  const std::string text = "photography cat dog. House";
  const Segment source{
      .text = text,
      .cuts = {{.place = text.find("dog"), .share_before = 0.6}, {.place = text.find("House"), .share_before = 0.8}}};
  const Segment target = translated(source, {.source = "en", .target = "arpabet"}).segment;
  ASSERT_EQ(target.cuts.size(), 2u);
  EXPECT_EQ(target.cuts[0].share_before, 0.6);
  EXPECT_THAT(target.text.substr(target.cuts[0].place), testing::StartsWith("T IH0 G "));
  EXPECT_EQ(target.text.substr(target.cuts[1].place), generated(0, "House"));
}

TEST(TranslationJob, DetectsALanguageFromWhichThereIsARoute) {
  const Translation result = translated(std::string("The cat sat on the mat."), {.target = "fr"});
  EXPECT_EQ(result.source, "en");
}

TEST(TranslationJob, RefusesLanguagesWithoutARoute) {
  const auto refused = [](const TranslateOptions& options) {
    try {
      job_for(options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused({.source = "en", .target = "de"}),
            "no model translates from 'en' to 'de', expected one of arpabet, fr");
  EXPECT_EQ(refused({.source = "en", .target = "EN"}), "'en' is the source and the target language, expected two");
  EXPECT_EQ(refused({.target = "de"}), "no model translates to 'de', expected one of arpabet, fr");
  EXPECT_EQ(refused({.source = "de", .target = "fr"}), "no model translates from 'de', expected one of arpabet, en");
  EXPECT_EQ(refused({.source = "en", .target = "fr", .via = "never"}), "no single model translates from 'en' to 'fr'");
  EXPECT_EQ(refused({.source = "en", .target = "fr", .via = "de"}),
            "no models translate from 'en' to 'fr' through 'de'");
  EXPECT_EQ(refused({.source = "en", .target = "fr", .via = "ARPABET"}), "");
}

}  // namespace
}  // namespace encdec
