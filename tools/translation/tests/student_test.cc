// Tests translation with models whose results are known: the planted student of
// tests/golden/students, which maps each token of its vocabulary to a partner, in order, in both
// directions; and a model that copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/alignment.h"
#include "encdec/translation/translation_job.h"
#include "tests/support/packed_folder.h"
#include "tests/support/random_marian.h"

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

Translation by_students(const Segment& segment, const std::string& target, TranslateOptions options = {}) {
  options.source = "de";
  options.target = target;
  TranslationJob job(students().all, students().routes, options);
  job.add(segment);
  return translate(students().all, job).front();
}

// Returns the offset of each word, then the size of the text plus 1.
std::vector<std::size_t> word_positions(const std::string& text) {
  std::vector<std::size_t> positions = {0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') positions.push_back(i + 1);
  }
  positions.push_back(text.size() + 1);
  return positions;
}

TEST(Students, ThereAndBackThroughAnotherLanguageIsTheIdentity) {
  ASSERT_EQ(students().sentences.size(), 8u);
  for (const std::string& text : students().sentences) {
    const Translation result = by_students({.text = text}, "fr");
    EXPECT_EQ(result.segment.text, text);
    EXPECT_THAT(result.route, ElementsAre("de", "en", "fr"));
  }
}

// Returns a text with <b> before word `first` and </b> before word `last`, counted from 0.
Segment with_codes(const std::string& text, std::size_t first, std::size_t last) {
  const std::vector<std::size_t> words = word_positions(text);
  return {.text = text,
          .codes = {{.position = words[first], .markup = "<b>", .partner = 1},
                    {.position = words[last] - 1, .markup = "</b>", .partner = 0}}};
}

TEST(Students, CodesStandAroundTheSameWords) {
  std::mt19937 random(1);
  for (const char* target : {"en", "fr"}) {
    for (const std::string& text : students().sentences) {
      const std::vector<std::size_t> words = word_positions(text);
      const std::size_t count = words.size() - 1, first = random() % count,
                        last = first + 1 + random() % (count - first);
      const Segment source = with_codes(text, first, last);
      const Segment result = by_students(source, target).segment;
      const std::vector<std::size_t> now = word_positions(result.text);
      ASSERT_EQ(now.size(), words.size()) << text;
      EXPECT_EQ(result.codes[0].position, now[first]) << text;
      EXPECT_EQ(result.codes[1].position, now[last] - 1) << text;
    }
  }
}

TEST(Students, CutsStayBetweenTheSameWords) {
  for (const std::string& text : students().sentences) {
    const std::vector<std::size_t> words = word_positions(text);
    Segment source{.text = text};
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
      const double share = static_cast<double>(words[i]) / static_cast<double>(text.size());
      source.cuts.push_back({.position = words[i], .share_before = share});
    }
    for (const char* target : {"en", "fr"}) {
      const Segment result = by_students(source, target).segment;
      const std::vector<std::size_t> now = word_positions(result.text);
      for (std::size_t i = 0; i < source.cuts.size(); ++i) EXPECT_EQ(result.cuts[i].position, now[2 * i + 1]) << text;
    }
  }
}

TEST(Students, WordsToKeepComeOutOnceAndWhole) {
  std::mt19937 random(3);
  for (const std::string& text : students().sentences) {
    for (const std::string kept : {"%s", "{name}", "https://a.example/b?c=1", "%1$d", "<x id=\"1\"/>"}) {
      const std::vector<std::size_t> words = word_positions(text);
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
    const std::vector<std::size_t> words = word_positions(text);
    if (words.size() < 4) continue;
    auto glossary = std::make_shared<Glossary>();
    glossary->add(text.substr(words[1], words[2] - words[1] - 1), "Zellwand");
    for (const char* target : {"en", "fr"}) {
      const Translation result = by_students({.text = text}, target, {.glossary = glossary});
      const std::vector<std::size_t> now = word_positions(result.segment.text);
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
    const std::size_t first = random() % 24, last = first + 1 + random() % (24 - first);
    Segment source = with_codes(text, first, last);
    source.cuts = {{.position = word_positions(text)[12], .share_before = 0.5}};
    for (const char* target : {"en", "fr"}) {
      // Each translation of more than 20 tokens reaches the limit.
      const Translation whole = by_students(source, target),
                        halves = by_students(source, target, {.generate = {.max_length_factor = 0.8F}});
      EXPECT_EQ(halves.segment.text, whole.segment.text);
      EXPECT_EQ(halves.segment.codes, whole.segment.codes);
      EXPECT_EQ(halves.segment.cuts, whole.segment.cuts);
      EXPECT_EQ(halves.problem, "");
    }
  }
}

TEST(Alignment, OfAPartOfTheTextBetweenBeginsThere) {
  const SourceUnits middle(*students().all[0].tokenizer(), "cd", {});
  const Alignment first{.ends = {2, 5}, .units = 2, .weights = {1, 0, 0, 1}};
  const Alignment second{.ends = {1}, .units = 1, .weights = {1}};
  EXPECT_THAT(compose(first, 3, middle, second).weights, ElementsAre(0.0F, 1.0F));
  EXPECT_THAT(compose(first, 5, middle, second).weights, ElementsAre(0.0F, 0.0F));
}

TEST(Alignment, DividesACopiedWordAsTheSourceAndGivesOthersTheLargestPart) {
  const std::string source = "rebuild now";
  const std::vector<TextUnit> units = units_of(source, std::vector<std::size_t>{2});
  const auto aligned = [&](const std::string& text) {
    std::string shown;
    for (const AlignedWord& word : align_words({}, text, source, units)) {
      shown += text.substr(word.begin, word.end - word.begin) + "=" + std::to_string(word.unit) + " ";
    }
    return shown;
  };
  EXPECT_EQ(aligned("Now Rebuild!"), "Now=2 Re=0 build=1 !=3 ");  // the source has no mark
  const Alignment strong{.ends = {3, 7}, .units = 3, .weights = {0, 0, 1, 0.2F, 0.8F, 0}};
  const auto words = align_words(strong, "já refaz", source, units);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].unit, 2u);
  EXPECT_EQ(words[1].unit, 1u);
}

// A model whose tokenizer knows bytes and some longer tokens. The weights are random; copied()
// makes the results.
struct Copier {
  explicit Copier(const std::string& tokenizer) {
    std::filesystem::copy_file(unpacked(ENCDEC_GOLDEN_DIR "/tokenizer_json/" + tokenizer) / "tokenizer.json",
                               random.folder() / "tokenizer.json");
    std::ofstream(random.folder() / "tokenizer_config.json") << R"({"tokenizer_class": "PreTrainedTokenizerFast"})";
    all.push_back(Model::load(random.folder(), {.threads = 1}));
    routes.add(ModelLanguages::parse("en:de"));
  }

  // Returns `source` itself as its translation. A fraction `blur` of the attention is spread
  // evenly.
  GenerateResult copied(const std::string& source, const GenerateOptions& options, float blur) const {
    const TokenIds ids = all.front().tokenizer()->encode(source);
    const std::size_t specials = all.front().tokenizer()->encode("").size();
    Hypothesis hypothesis{.text = source,
                          .token_ids = {ids.begin() + static_cast<std::ptrdiff_t>(specials), ids.end()}};
    if (!options.attention) return {.hypotheses = {hypothesis}};
    const auto rows = static_cast<Dim>(hypothesis.token_ids.size()), keys = static_cast<Dim>(ids.size());
    Tensor weights = Tensor::allocate({1, 1, rows, keys});
    for (Dim row = 0; row < rows; ++row) {
      std::fill_n(weights.row(row), keys, blur / static_cast<float>(keys));
      weights.row(row)[row + static_cast<Dim>(specials)] += 1 - blur;
    }
    hypothesis.attention.maps.push_back({.weights = std::move(weights)});
    return {.hypotheses = {hypothesis}};
  }

  std::string translated(const std::string& page, float blur) const {
    TranslationJob job(all, routes, {.source = "en", .target = "de", .is_html = true});
    job.add(page);
    for (auto batches = job.next(); !batches.empty(); batches = job.next()) {
      for (std::size_t batch = 0; batch < batches.size(); ++batch) {
        const auto& [model, options, inputs] = batches[batch];
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          job.take(batch, i, copied(std::get<std::string>(inputs[i].source), options, blur));
        }
      }
    }
    return job.results().front().text;
  }

  RandomMarian random{RandomMarian::HiddenDims{.vocabulary = 608}};
  std::vector<Model> all = {};
  TranslationRoutes routes = {};
};

// Returns a sentence of these words, with tags at random positions between characters.
std::string random_page(std::mt19937& random, const std::vector<std::string>& words, bool has_spaces) {
  const auto below = [&random](std::size_t end) { return random() % end; };
  std::string text;
  for (std::size_t i = below(8) + 1; i-- > 0;) {
    std::string word = words[below(words.size())];
    if (below(6) == 0) word = "(" + word + ")";
    if (below(6) == 0) word += has_spaces ? ",;:"[below(3)] : ' ';
    text += word + (has_spaces && i > 0 ? " " : "");
  }
  while (text.ends_with(' ')) text.pop_back();
  if (below(2) == 0) text += ".!?"[below(3)];
  std::string page, open;
  const auto close = [&] {
    page += std::string("</") + open.back() + ">";
    open.pop_back();
  };
  for (const auto& [value, position] : code_points(text)) {
    if (open.size() < 4 && below(10) == 0) {
      open += "abiqu"[below(5)];
      page += std::string("<") + open.back() + ">";
    }
    if (below(12) == 0) page += "<img src=x>";
    while (!open.empty() && below(4) == 0) close();
    page += text.substr(position, first_character(std::string_view(text).substr(position)).bytes);
  }
  while (!open.empty()) close();
  return page;
}

struct Script {
  std::string name;
  std::vector<std::string> words;
  bool has_spaces = true;
};

const Script kScripts[] = {
    {"Latin", {"the", "don't", "Paris", "42nd", "well-known", "a", "naïve", "e.g", "I"}},
    {"Cyrillic", {"привет", "мир", "это", "новая", "строка", "17"}},
    {"Arabic", {"مرحبا", "بالعالم", "هذا", "اختبار"}},
    {"Devanagari", {"नमस्ते", "दुनिया", "यह", "परीक्षण"}},
    {"Japanese", {"これは", "テスト", "です", "今日", "、", "世界"}, false},
    {"Thai", {"สวัสดี", "ชาวโลก", "นี่", "คือ", "การ"}, false},
};

TEST(CopiedCodes, ComeBackByteForByteInSixScripts) {
  const Copier pieces("unigram_bytes"), bytes("gpt2");
  for (const Script& script : kScripts) {
    std::mt19937 random(7);
    for (int i = 0; i < 3400; ++i) {
      const std::string page = random_page(random, script.words, script.has_spaces);
      const std::string got = (i % 2 == 0 ? pieces : bytes).translated(page, i % 3 == 0 ? 1.0F : 0.2F);
      ASSERT_EQ(got, page) << script.name << " " << i;
    }
  }
}

}  // namespace
}  // namespace encdec
