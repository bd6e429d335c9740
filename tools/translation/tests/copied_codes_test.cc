// Codes in the translations of a model that copies: they come back where they were, whatever the script.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/translation_job.h"
#include "tests/support/packed_folder.h"
#include "tests/support/random_marian.h"

namespace encdec {
namespace {

// A model whose tokenizer knows bytes and some pieces. Its weights are random: results are made by copied().
struct Copier {
  explicit Copier(const std::string& tokenizer) {
    std::filesystem::copy_file(unpacked(ENCDEC_GOLDEN_DIR "/tokenizer_json/" + tokenizer) / "tokenizer.json",
                               random.folder() / "tokenizer.json");
    std::ofstream(random.folder() / "tokenizer_config.json") << R"({"tokenizer_class": "PreTrainedTokenizerFast"})";
    all.push_back(Model::load(random.folder(), {.threads = 1}));
    for (const char* languages : {"en:de"}) routes.add(ModelLanguages::parse(languages));
  }

  // Returns a translation of `source` that is the source. A share `blur` of the attention is spread evenly.
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

class RandomPage {
 public:
  explicit RandomPage(unsigned seed) : random_(seed) {}

  // Returns a sentence, with tags between any characters.
  std::string sentence(const std::vector<std::string>& words, bool has_spaces) {
    std::string text;
    for (int i = below(8); i >= 0; --i) {
      std::string word = words[static_cast<std::size_t>(below(static_cast<int>(words.size())))];
      if (below(6) == 0) word = "(" + word + ")";
      if (below(6) == 0) word += has_spaces ? ",;:"[below(3)] : ' ';
      text += word + (has_spaces && i > 0 ? " " : "");
    }
    while (text.ends_with(' ')) text.pop_back();
    if (below(2) == 0) text += ".!?"[below(3)];
    std::vector<std::string> characters;
    for (const auto& [value, place] : code_points(text)) {
      characters.push_back(text.substr(place, first_character(std::string_view(text).substr(place)).bytes));
    }
    return tagged(characters, 0, characters.size(), 0);
  }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

  std::string tagged(const std::vector<std::string>& characters, std::size_t begin, std::size_t end, int depth) {
    std::string page;
    while (begin < end) {
      const int choice = below(12);
      if (choice == 0 && depth < 4) {
        const std::size_t inner = begin + static_cast<std::size_t>(below(static_cast<int>(end - begin) + 1));
        const std::string name(1, "abiqu"[below(5)]);
        page += "<" + name + ">" + tagged(characters, begin, inner, depth + 1) + "</" + name + ">";
        begin = inner;
      } else if (choice == 1) {
        page += "<img src=x>";
      } else {
        page += characters[begin++];
      }
    }
    return page;
  }

  std::mt19937 random_;
};

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
    RandomPage random(7);
    for (int i = 0; i < 3400; ++i) {
      const std::string page = random.sentence(script.words, script.has_spaces);
      const std::string got = (i % 2 == 0 ? pieces : bytes).translated(page, i % 3 == 0 ? 1.0F : 0.2F);
      ASSERT_EQ(got, page) << script.name << " " << i;
    }
  }
}

}  // namespace
}  // namespace encdec
