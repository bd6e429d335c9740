// Compares classifiers and rerankers of golden/classifiers with transformers and sentence-transformers.
#include "encdec/encoders/classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "encdec/encoders/embedder.h"
#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "encdec/models/model.h"
#include "encdec/models/tokenizer/base/affixes.h"
#include "tests/support/message_of.h"
#include "tests/support/packed_folder.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::filesystem::path kClassifiers =
    std::filesystem::path(ENCDEC_TOOLS_DIR) / "encoders/tests/golden/classifiers";

json expected_of(const std::string& name) {
  return read_json_object(unpacked(kClassifiers / name) / "expected.json").value();
}

std::vector<float> row_of(const Tensor& tensor, Dim row) {
  return {tensor.row(row), tensor.row(row) + tensor.width()};
}

class ClassifierGolden : public testing::TestWithParam<std::string> {
 protected:
  json expected_ = expected_of(GetParam());
  Classifier model_{Model::load(unpacked(kClassifiers / GetParam()) / "model", {.threads = 2})};
};

TEST_P(ClassifierGolden, LogitsOfTextsAndPairsEqualTransformersInAnyBatch) {
  std::vector<TextPair> texts;
  std::vector<std::vector<float>> logits;
  for (const json& pair : expected_["texts"]) texts.push_back({pair[0].get<std::string>(), pair[1].get<std::string>()});
  for (const json& pair : expected_["texts"]) texts.push_back({pair[0].get<std::string>()});
  for (const char* kind : {"pairs", "single"}) {
    for (const json& row : expected_[kind]) logits.push_back(row["logits"]);
  }
  ASSERT_EQ(texts.size(), logits.size());
  std::vector<std::vector<float>> first;
  for (const int batch_size : {0, 1, 5}) {
    const Tensor found = model_.classify(texts, {.batch_size = batch_size, .function = ScoreFunction::none});
    std::vector<std::vector<float>> rows;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      rows.push_back(row_of(found, static_cast<Dim>(i)));
      EXPECT_THAT(rows[i], testing::Pointwise(testing::FloatNear(2e-5f), logits[i])) << "text " << i;
    }
    if (first.empty()) first = rows;
    EXPECT_EQ(rows, first) << "batch size " << batch_size;
  }
}

TEST_P(ClassifierGolden, ScoresEqualThePipeline) {
  std::vector<TextPair> texts;
  for (const json& pair : expected_["texts"]) {
    if (!pair[0].get<std::string>().empty()) texts.push_back({pair[0].get<std::string>()});
  }
  const Tensor scores = model_.classify(texts);
  const auto& labels = model_.labels()->names();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float> row = row_of(scores, static_cast<Dim>(i));
    const std::vector<Ranking> best = ranked(row, 0);
    ASSERT_EQ(best.size(), expected_["classify"][i].size());
    for (std::size_t k = 0; k < best.size(); ++k) {
      EXPECT_EQ(labels[best[k].index], expected_["classify"][i][k]["label"]) << *texts[i].first;
      EXPECT_NEAR(best[k].score, expected_["classify"][i][k]["score"].get<float>(), 2e-6);
    }
  }
}

TEST_P(ClassifierGolden, DocumentsAreRankedAsByTheCrossEncoder) {
  if (!expected_.contains("rerank")) return;
  const json& expected = expected_["rerank"];
  const auto documents = expected["documents"].get<std::vector<std::string>>();
  const auto scores = expected["scores"].get<std::vector<float>>();
  const std::vector<Ranking> all = model_.rerank(expected["query"], documents);
  ASSERT_EQ(all.size(), documents.size());
  for (const Ranking& ranking : all) EXPECT_NEAR(ranking.score, scores[ranking.index], 5e-6) << ranking.index;
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(all[i - 1].score, all[i].score);
    // Documents 1 and 4 are equal.
    if (all[i - 1].score == all[i].score) {
      EXPECT_LT(all[i - 1].index, all[i].index);
    }
  }
  const std::vector<Ranking> two = model_.rerank(expected["query"], documents, {.top_n = 2});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[1].index, all[1].index);
  EXPECT_EQ(two[1].score, all[1].score);
}

TEST_P(ClassifierGolden, CandidateLabelsHaveTheScoresOfZeroShotClassification) {
  if (!expected_.contains("zero_shot")) return;
  const json& expected = expected_["zero_shot"];
  const auto labels = expected["labels"].get<std::vector<std::string>>();
  const std::vector<std::string> texts{"", expected_["texts"][0][0]};
  const auto check = [&](const char* key, std::span<const std::string> candidates, const ZeroShotOptions& options) {
    const Tensor scores = model_.classify_by_labels(texts, candidates, options);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      EXPECT_NEAR(scores.row(1)[i], expected[key][candidates[i]].get<float>(), 2e-6) << key << ", " << candidates[i];
    }
  };
  check("single", labels, {});
  check("multi", labels, {.multi_label = true});
  check("one", std::span(labels).first(1), {});
  check("template", labels, {.hypothesis_template = "It is about {}, or not."});
}

INSTANTIATE_TEST_SUITE_P(Classifiers, ClassifierGolden, testing::ValuesIn(packed_names(kClassifiers)),
                         [](const auto& instance) { return instance.param; });

TEST(Classifier, RawScoresAreLogits) {
  const Classifier model(Model::load(unpacked(kClassifiers / "reranker") / "model"));
  const std::vector<std::string> documents{"a", "the"};
  const std::vector<Ranking> raw = model.rerank("cat", documents, {.raw_scores = true});
  const std::vector<Ranking> scores = model.rerank("cat", documents);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_FLOAT_EQ(scores[i].score, 1 / (1 + std::exp(-raw[i].score)));
}

TEST(Classifier, ModulesOfACrossEncoderGiveNoEmbeddings) {
  const Model model = Model::load(unpacked(kClassifiers / "modules") / "model");
  EXPECT_EQ(Classifier(model).labels()->ranking_function(), ScoreFunction::sigmoid);
  EXPECT_EQ(Classifier(Model::load(unpacked(kClassifiers / "modules_identity") / "model")).labels()->ranking_function(),
            ScoreFunction::none);
  EXPECT_THAT(
      message_of<ConfigError>([&] { Embedder(model).embed({"a"}); }),
      HasSubstr("no dense vectors, expected a model with Pooling that is neither SpladePooling nor of a Cross"));
}

// Steps of `work`: polls of its thread and those that help it, in thousands.
template <class Work>
int steps_of(const Work& work) {
  std::atomic<int> steps = 0;
  const std::function<void()> count = [&] { ++steps; };
  const CancellationScope scope(count);
  work();
  return steps;
}

TEST(Classifier, AQueryIsTokenizedOnceForAllDocuments) {
  const Classifier model(Model::load(unpacked(kClassifiers / "reranker") / "model"));
  std::string query = "who sat on the mat?";
  while (query.size() < 300'000) query += " the cat";
  std::vector<std::string> documents;
  for (int i = 0; i < 24; ++i) documents.push_back("cat " + std::string(static_cast<std::size_t>(i), 'a'));
  const int one = steps_of([&] { model.rerank(query, std::span(documents).first(1)); });
  std::vector<Ranking> all;
  const int many = steps_of([&] { all = model.rerank(query, documents); });
  EXPECT_GT(one, 10);
  EXPECT_LT(many, 2 * one);
  for (const Ranking& ranking : all) {
    const auto alone = model.rerank(query, std::span(documents).subspan(ranking.index, 1));
    EXPECT_EQ(alone.front().score, ranking.score);
  }
}

TEST(Classifier, InputsTimesBytesAreCountedFirst) {
  const SharedText text(std::string(1'000'000, 'a'));
  EXPECT_NO_THROW(check_shared_texts(std::vector<TextPair>(67, {text, "b"}), 0));
  EXPECT_NO_THROW(check_shared_texts(std::vector<TextPair>(1000, {text, "b"}), 512));
  std::vector<TextPair> own(2000, {std::string("a"), "b"});
  for (TextPair& pair : own) pair.first = std::string("c");
  own.push_back({text, "b"});
  EXPECT_NO_THROW(check_shared_texts(own, 0));
  EXPECT_NO_THROW(check_shared_texts(std::vector<TextPair>(100'000, {std::string(65'536, 'a'), "b"}), 0));
  EXPECT_EQ(message_of<InputError>([&] {
              check_shared_texts(std::vector<TextPair>(68, {text, "b"}), 0);
            }),
            "a text of 1000000 bytes for 68 inputs, expected at most 986895 bytes");
  EXPECT_EQ(message_of<InputError>([&] { hypotheses(std::vector<std::string>(68, "b"), "{}" + *text); }),
            "a template of 1000002 bytes for 68 inputs, expected at most 986895 bytes");
}

TEST(Classifier, LargeLogitsHaveScores) {
  std::vector<float> logits{-1000, 500, 499};
  to_scores(ScoreFunction::softmax, logits);
  EXPECT_FLOAT_EQ(logits[1], 1 / (1 + std::exp(-1.0f)));
  EXPECT_EQ(logits[0], 0);
}

TEST(Classifier, RefusesWhatCannotBeRead) {
  const Classifier reranker(Model::load(unpacked(kClassifiers / "reranker") / "model"));
  const Classifier inference(Model::load(unpacked(kClassifiers / "inference") / "model"));
  const std::vector<std::string> none, texts{"the cat sat on a mat"}, labels{"cats"};
  EXPECT_EQ(message_of<InputError>([&] { reranker.rerank("a", none); }),
            "a query without documents, expected at least one");
  EXPECT_THAT(message_of<ConfigError>([&] { inference.rerank("a", texts); }), HasSubstr("3 labels, expected 1"));
  EXPECT_EQ(message_of<InputError>([&] { inference.classify_by_labels(texts, none); }),
            "no labels, expected at least one");
  EXPECT_EQ(
      message_of<InputError>([&] { inference.classify_by_labels(texts, labels, {.hypothesis_template = "It is."}); }),
      "hypothesis template 'It is.', expected one with {} for the label");
  const std::vector<TextPair> pairs{{"a"}, {"the cat sat on a mat", "the cat sat on a mat"}};
  EXPECT_THAT(
      message_of<InputError>([&] { inference.classify(pairs, {.max_length = 20, .long_texts = LongSources::error}); }),
      HasSubstr("text 2: 29 tokens, expected at most 20"));
  EXPECT_THAT(message_of<InputError>(
                  [&] { inference.classify(pairs, {.max_length = 8, .truncation = Truncation::only_first}); }),
              HasSubstr("text 2: 21 tokens too many, but only 13 in the first text"));
  const Classifier embedder(
      Model::load(unpacked(kClassifiers.parent_path() / "sentence_transformers/no_modules") / "model"));
  EXPECT_THAT(message_of<ConfigError>([&] { embedder.classify(pairs); }),
              HasSubstr("a model without a head for labels"));
}

TEST(Classifier, WithADecoderOnlyClassifies) {
  const std::filesystem::path folder = unpacked(kClassifiers / "inference_decoder") / "model";
  const Model model = Model::load(folder);
  EXPECT_FALSE(model.network()->decoder.has_value());
  EXPECT_FALSE(model.network()->output.has_value());
  EXPECT_THAT(message_of<ConfigError>([&] { model.generate({"a"}); }), HasSubstr("bart is a classifier"));
  EXPECT_THAT(message_of<ConfigError>([&] { Embedder(model).embed({"a"}); }), HasSubstr("bart has a decoder"));
  const std::vector<TokenIds> sources = {{0, 5, 2}, {0, 5}};
  EXPECT_EQ(message_of<InputError>([&] { model.forward(sources, {}); }),
            "source 2: no end token 2, expected one: the classifier reads its row");
  EXPECT_THAT(message_of<ConfigError>([&] {
                Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "bart/base/model", {.draft_model = folder});
              }),
              HasSubstr("number of labels is 3, expected 0"));
}

// A copy of a folder, with changes.
class DamagedClassifier : public testing::Test {
 protected:
  DamagedClassifier() {
    std::filesystem::copy(unpacked(kClassifiers / "inference") / "model", folder_.path(),
                          std::filesystem::copy_options::recursive);
  }
  json config() const { return read_json_object(folder_.path() / "config.json").value(); }
  std::string message_with(const json& config) const {
    std::ofstream(folder_.path() / "config.json") << config;
    return message_of([&] { Classifier(Model::load(folder_.path())); });
  }

  TempFolder folder_;
};

TEST_F(DamagedClassifier, LabelsMustBeNumberedAndFitTheHead) {
  json changed = config();
  changed["id2label"] = {{"0", "a"}, {"2", "b"}, {"3", "c"}};
  EXPECT_THAT(message_with(changed), HasSubstr("no label 1, expected labels from 0 to 2"));
  changed["id2label"] = {{"0", "a"}, {"1", "b"}};
  EXPECT_THAT(message_with(changed), HasSubstr("tensor 'classifier.weight': shape [3, 16], expected [2, 16]"));
  changed["id2label"] = {{"0", 0}, {"1", 1}, {"2", 2}};
  EXPECT_EQ(message_with(changed), "no exception");
  EXPECT_THAT(Classifier(Model::load(folder_.path())).labels()->names(), testing::ElementsAre("0", "1", "2"));
}

TEST_F(DamagedClassifier, AHeadThatTheWeightsLackIsAnError) {
  const std::filesystem::path tagger = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "bert/tagger/model";
  for (const char* file : {"config.json", "model.safetensors"}) {
    std::filesystem::copy(tagger / file, folder_.path() / file, std::filesystem::copy_options::overwrite_existing);
  }
  json changed = config();
  changed["architectures"] = {"BertForSequenceClassification"};
  EXPECT_THAT(message_with(changed), HasSubstr("tensor 'bert.pooler.dense.weight' is missing"));
}

TEST(PairTruncation, EqualsThatOfTokenizers) {
  const json expected = read_json_object(kClassifiers / "truncation.json").value();
  const std::map<std::string, Truncation> strategies = {{"longest_first", Truncation::longest_first},
                                                        {"only_first", Truncation::only_first},
                                                        {"only_second", Truncation::only_second}};
  for (const auto& [name, truncation] : strategies) {
    ASSERT_GT(expected.at(name).size(), 1000u);
    for (const json& row : expected.at(name)) {
      std::pair<std::size_t, std::size_t> found;
      const std::string message =
          message_of<InputError>([&] { found = pair_lengths(row[0], row[1], row[2], truncation); });
      EXPECT_EQ(message != "no exception", row[3].is_null()) << name << " " << row;
      if (!row[3].is_null() && message == "no exception") {
        EXPECT_EQ(found, std::pair(row[3].get<std::size_t>(), row[4].get<std::size_t>())) << name << " " << row;
      }
    }
  }
}

}  // namespace
}  // namespace encdec
