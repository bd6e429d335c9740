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

#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TranslationRoutes routes_of(const std::vector<std::string>& models) {
  TranslationRoutes routes;
  for (const std::string& model : models) routes.add(ModelLanguages::parse(model));
  return routes;
}

std::vector<std::string> way(const TranslationRoutes& routes, const std::string& source, const std::string& target,
                             const std::string& via = {}) {
  return languages_of(routes.find(source, target, via));
}

TEST(Routes, TakeOneStepWhereAModelHasThePair) {
  const TranslationRoutes routes = routes_of({"de:en", "en:fr", "de:fr,en", "de:fr"});
  EXPECT_THAT(routes.find("de", "fr"), ElementsAre(RouteStep{2, "de", "fr"}));
  EXPECT_THAT(routes.find("de", "en"), ElementsAre(RouteStep{0, "de", "en"}));
  EXPECT_THAT(routes.find("fr", "de"), IsEmpty());
  EXPECT_THAT(routes.find("de", "de"), IsEmpty());
  EXPECT_THAT(routes.find("xx", "fr"), IsEmpty());
}

TEST(Routes, GoThroughEnglishElseThroughTheFirstLanguageThatBothModelsHave) {
  const TranslationRoutes routes = routes_of({"de:da,en,es", "da:fr", "en:fr", "es,da:it"});
  EXPECT_THAT(routes.find("de", "fr"), ElementsAre(RouteStep{0, "de", "en"}, RouteStep{2, "en", "fr"}));
  EXPECT_THAT(way(routes, "de", "it"), ElementsAre("de", "da", "it"));
  EXPECT_THAT(way(routes, "da", "en"), IsEmpty());
  // Two steps at most.
  EXPECT_THAT(way(routes_of({"de:en", "en:fr", "fr:it"}), "de", "it"), IsEmpty());
}

TEST(Routes, MayBeForcedAndForbidden) {
  const TranslationRoutes routes = routes_of({"de:fr,en,es", "en:fr", "es:fr,it"});
  EXPECT_THAT(way(routes, "de", "fr", "es"), ElementsAre("de", "es", "fr"));
  EXPECT_THAT(way(routes, "de", "fr", "it"), IsEmpty());
  EXPECT_THAT(way(routes, "de", "en", "en"), ElementsAre("de", "en"));
  EXPECT_THAT(way(routes, "de", "it", "never"), IsEmpty());
  EXPECT_THAT(way(routes, "de", "fr", "never"), ElementsAre("de", "fr"));
}

TEST(Routes, ListAllLanguagesThatCanBeReached) {
  const TranslationRoutes routes = routes_of({"de:en", "en:de,fr", "it:fr"});
  EXPECT_THAT(routes.sources(), ElementsAre("de", "en", "it"));
  EXPECT_THAT(routes.targets(), ElementsAre("de", "en", "fr"));
  EXPECT_THAT(routes.targets("de"), ElementsAre("en", "fr"));
  EXPECT_THAT(routes.targets("it"), ElementsAre("fr"));
  EXPECT_THAT(routes.targets("fr"), IsEmpty());
}

// A model from English to its pronunciation, followed by a model with random weights.
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

TEST(TranslationJob, TranslatesSentenceBySentenceAlsoThroughAnotherLanguage) {
  const Translation result = translated(std::string("  A cat. A dog.\n"), {.source = "EN-us", .target = "arpabet"});
  const std::string cat = generated(0, "A cat."), dog = generated(0, "A dog.");
  EXPECT_EQ(result.text, "  " + cat + " " + dog + "\n");
  EXPECT_THAT(result.route, ElementsAre("en", "arpabet"));
  const Translation third = translated(std::string("A cat. A dog."), {.source = "en", .target = "fr"});
  EXPECT_EQ(third.text, generated(1, cat) + " " + generated(1, dog));
  EXPECT_THAT(third.route, ElementsAre("en", "arpabet", "fr"));
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

// Runs a job with made-up results: the input in upper case or, if `is_too_long`, its first word and
// a reached token limit. Returns the inputs.
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
  for (int i = 0; i < 15; ++i) text += " あああああああああ";  // few tokens, but 400 bytes
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
    const auto& [model, generate, inputs] = batches.front();
    EXPECT_EQ(model, rounds++);
    EXPECT_EQ(generate.num_return_sequences.value_or(1), rounds == 2 ? 2 : 1);
    std::vector<GenerateResult> results = models().all[model].generate_inputs(inputs, generate);
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

TEST(TranslationJob, KeepsTagsAndTheirPartners) {
  const auto html = [](const std::string& page, const char* target = "arpabet") {
    return translated(page, {.source = "en", .target = target, .is_html = true}).text;
  };
  EXPECT_EQ(html("photo<b>graphy</b>"), "F AH0 T AA1 <b>G R AH0 F IY0</b>");
  EXPECT_EQ(html("<p>photo<a href='x'>gra<img src=i></a>phy</p>"),
            "<p>F AH0 T AA1 <a href='x'>G R AH0<img src=i></a> F IY0</p>");
  EXPECT_EQ(html("<i>cat</i>\n<i>d</i>og"), "<i>K AE1 T</i>\n<i>D</i> AO1 G");
  EXPECT_EQ(html("<b>cat\ndog</b>"), "<b>K AE1 T\nD AO1 G</b>");
  EXPECT_EQ(html("<b></b>cat<br><b>dog"), "<b></b>K AE1 T<br><b>D AO1 G");
  for (const char* tag : {"<p>", "<b>", "</b>", "<i>", "</i>", "</p>"}) {
    EXPECT_THAT(html("<p>photo<b>graphy</b> &amp; <i>cat</i></p>", "fr"), HasSubstr(tag));
  }
  const Segment source{.text = "photography. Cat",
                       .codes = {{.position = 5, .markup = "<b>", .partner = 1},
                                 {.position = 11, .markup = "</b>", .partner = 0},
                                 {.position = 16, .markup = "<br>"}}};
  const Segment target = translated(source, {.source = "en", .target = "arpabet"}).segment;
  EXPECT_EQ(target.text, generated(0, "photography.") + " " + generated(0, "Cat"));
  ASSERT_EQ(target.codes.size(), 3u);
  EXPECT_EQ(target.text.substr(target.codes[0].position, target.codes[1].position - target.codes[0].position),
            "G R AH0 F IY0");
  EXPECT_EQ(target.codes[0].partner, 1u);
  EXPECT_EQ(target.codes[1].partner, 0u);
  EXPECT_EQ(target.codes[2].position, target.text.size());
}

// Returns the placeholders of a text, written as <x>.
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
  // This model copies neither placeholders nor stand-ins, so they are inserted by alignment.
  const auto text_of = [](const Segment& from, const Placeholder& kept) {
    return from.text.substr(kept.begin, kept.end - kept.begin);
  };
  for (const char* target : {"arpabet", "fr"}) {
    for (const char* text : {"photography <%s> cat", "<%s> cat", "cat <%s>", "<%s>", "<%s> <{0}>", "cat <%s> dog <%s>.",
                             "Cat. Dog <http://a.b/c>: cat (<%d>)"}) {
      const Segment source = with_placeholders(text);
      const Translation result = translated(source, {.source = "en", .target = target});
      const auto& found = result.segment.placeholders;
      ASSERT_EQ(found.size(), source.placeholders.size()) << text;
      for (const Placeholder& kept : source.placeholders) {
        const auto same = std::ranges::find(found, kept.markup, &Placeholder::markup);
        ASSERT_NE(same, found.end());
        EXPECT_EQ(text_of(result.segment, *same), text_of(source, kept)) << result.segment.text;
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
  // The time grows linearly with the size.
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "A b. ";
  TranslationJob job = job_for({.source = "en", .target = "arpabet"});
  job.add(with_placeholders("Cat <" + many + "> dog."));
  EXPECT_LT(job.sentences(), 20'000u);
}

TEST(TranslationJob, AppliesAGlossary) {
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

TEST(TranslationJob, DetectsALanguageFromWhichThereIsARoute) {
  EXPECT_EQ(translated(std::string("The cat sat on the mat."), {.target = "fr"}).source, "en");
  const std::pair<TranslateOptions, const char*> refused[] = {
      {{.source = "en", .target = "de"}, "no model translates from 'en' to 'de', expected one of arpabet, fr"},
      {{.source = "en", .target = "EN"}, "'en' is the source and the target language, expected two"},
      {{.target = "de"}, "no model translates to 'de', expected one of arpabet, fr"},
      {{.source = "de", .target = "fr"}, "no model translates from 'de', expected one of arpabet, en"},
      {{.source = "en", .target = "fr", .via = "never"}, "no single model translates from 'en' to 'fr'"},
      {{.source = "en", .target = "fr", .via = "de"}, "no models translate from 'en' to 'fr' through 'de'"},
      {{.source = "en", .target = "fr", .via = "ARPABET"}, "no exception"},
  };
  for (const auto& [options, message] : refused) EXPECT_EQ(message_of<InputError>([&] { job_for(options); }), message);
}

}  // namespace
}  // namespace encdec
