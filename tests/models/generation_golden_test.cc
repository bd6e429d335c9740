// Compares what the checkpoints of tests/golden generate, under many options, with what transformers generates from
// each source alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/model.h"
#include "tests/support/batch_dependence.h"
#include "tests/support/golden_cases.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

// Relative to a score, or to 1 if the score is smaller.
constexpr double kTolerance = 1e-4;

const std::filesystem::path kGolden = ENCDEC_GOLDEN_DIR;

struct Case {
  std::string checkpoint;  // "bart/base"
  nlohmann::json content;  // an element of "cases" in its generation.json

  std::string name() const { return content["name"].get<std::string>(); }
  nlohmann::json settings() const { return content.value("settings", nlohmann::json::object()); }
};

// Names a case in the messages of GoogleTest.
void PrintTo(const Case& golden, std::ostream* stream) {
  *stream << golden.checkpoint << ' ' << golden.name();
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& family : std::filesystem::directory_iterator(kGolden)) {
    if (!family.is_directory()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(family)) {
      const auto file = entry.path() / "generation.json";
      if (!std::filesystem::exists(file)) continue;
      nlohmann::json document = read_json(file);
      for (auto& content : document["cases"]) {
        cases.push_back({family.path().filename() / entry.path().filename(), std::move(content)});
      }
    }
  }
  std::ranges::sort(cases, {}, [](const Case& golden) { return golden.checkpoint + " " + golden.name(); });
  return cases;
}

// Returns the checkpoint with the case's settings in its generation_config.json. Cases with equal settings share a
// model.
const Model& model_of(const Case& golden) {
  static std::map<std::string, Model> models;
  const nlohmann::json changed = golden.settings();
  const std::string key = golden.checkpoint + changed.dump();
  if (const auto found = models.find(key); found != models.end()) return found->second;
  const std::filesystem::path folder = kGolden / golden.checkpoint / "model";
  if (changed.empty()) return models.emplace(key, Model::load(folder, {.threads = 2})).first->second;
  const TempFolder copy;
  std::filesystem::copy(folder, copy.path());
  nlohmann::json settings = read_json(folder / "generation_config.json");
  settings.merge_patch(changed);
  copy.write("generation_config.json", settings.dump());
  return models.emplace(key, Model::load(copy.path(), {.threads = 2})).first->second;
}

// A reader of options by the names that transformers gives them.
class OptionReader {
 public:
  explicit OptionReader(const nlohmann::json& given) : given_(given) {}

  GenerateOptions read() {
    GenerateOptions options;
    set("num_beams", options.num_beams);
    set("num_return_sequences", options.num_return_sequences);
    set("max_new_tokens", options.max_new_tokens);
    set("min_new_tokens", options.min_new_tokens);
    set("length_penalty", options.length_penalty);
    set("repetition_penalty", options.repetition_penalty);
    set("encoder_repetition_penalty", options.encoder_repetition_penalty);
    set("no_repeat_ngram_size", options.no_repeat_ngram_size);
    set("encoder_no_repeat_ngram_size", options.encoder_no_repeat_ngram_size);
    set("bad_words_ids", options.bad_words);
    set("suppress_tokens", options.suppress_tokens);
    set("begin_suppress_tokens", options.begin_suppress_tokens);
    set("forced_bos_token_id", options.forced_bos_token);
    if (const auto* tokens = find("forced_eos_token_id")) {
      options.forced_eos_tokens = tokens->is_array() ? tokens->get<TokenIds>() : TokenIds{tokens->get<std::int32_t>()};
    }
    if (const auto* decay = find("exponential_decay_length_penalty")) {
      options.exponential_decay_length_penalty = {(*decay)[0].get<int>(), (*decay)[1].get<float>()};
    }
    if (const auto* stopping = find("early_stopping")) {
      options.early_stopping = *stopping == "never" ? EarlyStopping::never
                               : *stopping == true  ? EarlyStopping::when_full
                                                    : EarlyStopping::heuristic;
    }
    EXPECT_EQ(found_, given_.size()) << "options that this test does not know: " << given_;
    return options;
  }

 private:
  const nlohmann::json* find(const char* name) {
    const auto found = given_.find(name);
    if (found == given_.end()) return nullptr;
    ++found_;
    return &*found;
  }

  template <class T>
  void set(const char* name, std::optional<T>& option) {
    if (const auto* value = find(name)) option = value->get<T>();
  }

  const nlohmann::json& given_;
  std::size_t found_ = 0;
};

std::vector<GenerateInput> inputs_of(const nlohmann::json& rows) {
  std::vector<GenerateInput> inputs;
  for (const auto& row : rows) {
    GenerateInput input{row["source"].get<TokenIds>()};
    if (row.contains("prefix")) input.prefix = row["prefix"].get<TokenIds>();
    inputs.push_back(std::move(input));
  }
  return inputs;
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool is_near(double found, double expected) {
  return std::abs(found - expected) <= kTolerance * std::max(1.0, std::abs(expected));
}

class GenerationGolden : public testing::TestWithParam<Case> {
 protected:
  const nlohmann::json& rows() const { return GetParam().content["rows"]; }
};

TEST_P(GenerationGolden, EachSourceGivesWhatTransformersGeneratesFromItAlone) {
  const Model& model = model_of(GetParam());
  GenerateOptions options = OptionReader(GetParam().content["options"]).read();
  options.batch_size = 1;
  const auto results = model.generate_inputs(inputs_of(rows()), options);
  ASSERT_EQ(results.size(), rows().size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& expected = rows()[i]["hypotheses"];
    ASSERT_EQ(results[i].hypotheses.size(), expected.size()) << "row " << i;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const Hypothesis& found = results[i].hypotheses[k];
      EXPECT_EQ(found.token_ids, expected[k]["token_ids"].get<TokenIds>()) << "row " << i << ", hypothesis " << k;
      EXPECT_PRED2(is_near, found.score, expected[k]["score"].get<double>()) << "row " << i << ", hypothesis " << k;
    }
  }
}

TEST_P(GenerationGolden, ABatchGivesTheSameBytesAsEachSourceAlone) {
  const Model& model = model_of(GetParam());
  if (depends_on_batch(model)) GTEST_SKIP() << model.notes().precision;
  GenerateOptions options = OptionReader(GetParam().content["options"]).read();
  std::vector<GenerateInput> inputs = inputs_of(rows());
  options.batch_size = 1;
  auto alone = model.generate_inputs(inputs, options);
  std::ranges::reverse(inputs);
  std::ranges::reverse(alone);
  options.batch_size = 64;
  for (const int workers : {1, 2}) {
    options.workers = workers;
    const auto together = model.generate_inputs(inputs, options);
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      ASSERT_EQ(together[i].hypotheses.size(), alone[i].hypotheses.size());
      for (std::size_t k = 0; k < alone[i].hypotheses.size(); ++k) {
        const Hypothesis &a = together[i].hypotheses[k], &b = alone[i].hypotheses[k];
        EXPECT_EQ(a.token_ids, b.token_ids) << "row " << i << " from the end, hypothesis " << k;
        EXPECT_EQ(std::memcmp(&a.score, &b.score, sizeof(double)), 0) << a.score << " and " << b.score;
        EXPECT_TRUE(same_bytes(a.token_scores, b.token_scores)) << "row " << i << " from the end, hypothesis " << k;
      }
    }
  }
}

TEST_P(GenerationGolden, TokenScoresEqualThoseOfTeacherForcing) {
  const Model& model = model_of(GetParam());
  const auto inputs = inputs_of(rows());
  const auto results = model.generate_inputs(inputs, OptionReader(GetParam().content["options"]).read());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& source = std::get<TokenIds>(inputs[i].source);
    const std::size_t given = rows()[i].value("prefix", TokenIds{}).size();
    for (const Hypothesis& hypothesis : results[i].hypotheses) {
      const auto forced = model.score_ids({&source, 1}, {&hypothesis.token_ids, 1}).front();
      ASSERT_EQ(hypothesis.token_scores.size(), forced.token_scores.size());
      for (std::size_t t = 0; t < forced.token_scores.size(); ++t) {
        const float expected = t < given ? 0.0f : forced.token_scores[t];
        EXPECT_PRED2(is_near, hypothesis.token_scores[t], expected) << "row " << i << ", token " << t;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, GenerationGolden, testing::ValuesIn(all_cases()), [](const auto& instance) {
  return as_test_name(instance.param.checkpoint + "_" + instance.param.name());
});

}  // namespace
}  // namespace encdec
