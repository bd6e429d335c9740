// Compares the results of classifiers, rerankers and taggers with transformers and sentence-transformers.
#include "encdec/encoders/classifier.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>

#include "encdec/encoders/embedder.h"
#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/base/affixes.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"
#include "tools/encoders/tests/goldens.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ClassifierGolden : public testing::TestWithParam<std::string> {
 protected:
  json expected_ = expected_of(GetParam());
  Classifier model_{golden_model(GetParam(), {.threads = 2})};
};

TEST_P(ClassifierGolden, LogitsOfTextsAndPairsEqualTransformersInAnyBatch) {
  std::vector<TextPair> texts;
  Rows logits;
  for (const json& pair : expected_["texts"]) texts.push_back({pair[0].get<std::string>(), pair[1].get<std::string>()});
  for (const json& pair : expected_["texts"]) texts.push_back({pair[0].get<std::string>()});
  for (const char* kind : {"pairs", "single"}) {
    for (const json& row : expected_[kind]) logits.push_back(row["logits"]);
  }
  const auto rows = [&](int batch_size) {
    return rows_of(model_.classify(texts, {.batch_size = batch_size, .function = ScoreFunction::none}));
  };
  const Rows all = rows(0);
  expect_near(all, logits, 2e-5f);
  for (const int batch_size : {1, 5}) EXPECT_EQ(rows(batch_size), all) << "batch size " << batch_size;
}

TEST_P(ClassifierGolden, ScoresEqualThePipeline) {
  std::vector<TextPair> texts;
  for (const json& pair : expected_["texts"]) {
    if (!pair[0].get<std::string>().empty()) texts.push_back({pair[0].get<std::string>()});
  }
  const Rows scores = rows_of(model_.classify(texts));
  const auto& labels = model_.labels()->names();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<Ranking> best = ranked(scores[i], 0);
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
  // Documents 1 and 4 are equal.
  EXPECT_TRUE(std::ranges::is_sorted(all, [](const Ranking& a, const Ranking& b) {
    return a.score > b.score || (a.score == b.score && a.index < b.index);
  }));
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

INSTANTIATE_TEST_SUITE_P(Classifiers, ClassifierGolden, testing::ValuesIn(golden_names("classifiers")), test_name);

class TaggerGolden : public testing::TestWithParam<std::string> {};

void expect_equal(const std::vector<std::vector<Entity>>& found, const json& rows, bool is_aggregated) {
  ASSERT_EQ(found.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(found[i].size(), rows[i].size()) << "text " << i;
    for (std::size_t k = 0; k < found[i].size(); ++k) {
      const Entity& entity = found[i][k];
      const json& wanted = rows[i][k];
      EXPECT_EQ(entity.label, wanted.at(is_aggregated ? "entity_group" : "entity"));
      EXPECT_NEAR(entity.score, wanted["score"].get<float>(), 2e-6);
      EXPECT_EQ(entity.word, wanted["word"]);
      EXPECT_EQ(entity.characters.begin, wanted["start"]);
      EXPECT_EQ(entity.characters.end, wanted["end"]);
      if (!is_aggregated) EXPECT_EQ(entity.token, wanted["index"]);
    }
  }
}

TEST_P(TaggerGolden, EntitiesEqualThePipelineInAnyBatch) {
  const json expected = expected_of(GetParam());
  const auto texts = expected["texts"].get<std::vector<std::string>>();
  const auto long_texts = expected["long texts"].get<std::vector<std::string>>();
  const Classifier model(golden_model(GetParam(), {.threads = 2}));
  for (const auto& [aggregation, name] : kAggregationNames) {
    const bool is_aggregated = aggregation != Aggregation::none;
    for (const int batch_size : {0, 1}) {
      TagOptions options{.batch_size = batch_size, .aggregation = aggregation};
      SCOPED_TRACE(name);
      expect_equal(model.tag(texts, options), expected.at(std::string(name)), is_aggregated);
      options.ignore_labels = {};
      expect_equal(model.tag(texts, options), expected.at(std::string(name) + " all"), is_aggregated);
      for (const int stride : {1, 7, 15}) {
        const auto rows = expected.find(fmt::format("{} {}", name, stride));
        if (rows == expected.end()) continue;
        SCOPED_TRACE(stride);
        options.stride = stride;
        expect_equal(model.tag(long_texts, options), *rows, true);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Taggers, TaggerGolden, testing::ValuesIn(golden_names("classifiers/taggers")), test_name);

TEST(Tagger, BytesAndCharactersAreTheSamePart) {
  const Classifier model(golden_model("classifiers/taggers/word_pieces"));
  const std::vector<std::string> texts{"Café ☃ the"};
  const auto entities = model.tag(texts, {.aggregation = Aggregation::first, .ignore_labels = {}}).front();
  ASSERT_FALSE(entities.empty());
  const Entity& last = entities.back();
  EXPECT_EQ(last.characters.end, 10u);
  EXPECT_EQ(last.bytes.end, texts[0].size());
  EXPECT_EQ(last.bytes.begin - last.characters.begin, last.characters.begin > 5   ? 3u
                                                      : last.characters.begin > 3 ? 1u
                                                                                  : 0u);
}

TEST(Classifier, RawScoresAreLogitsAndLargeLogitsHaveScores) {
  const Classifier model(golden_model("classifiers/reranker"));
  const std::vector<std::string> documents{"a", "the"};
  const std::vector<Ranking> raw = model.rerank("cat", documents, {.raw_scores = true});
  const std::vector<Ranking> scores = model.rerank("cat", documents);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_FLOAT_EQ(scores[i].score, 1 / (1 + std::exp(-raw[i].score)));
  std::vector<float> logits{-1000, 500, 499};
  to_scores(ScoreFunction::softmax, logits);
  EXPECT_FLOAT_EQ(logits[1], 1 / (1 + std::exp(-1.0f)));
  EXPECT_EQ(logits[0], 0);
}

// Returns how often the threads of `work` polled for cancellation.
template <class Work>
int steps_of(const Work& work) {
  std::atomic<int> steps = 0;
  const std::function<void()> count = [&] { ++steps; };
  const CancellationScope scope(count);
  work();
  return steps;
}

TEST(Classifier, AQueryIsTokenizedOnceForAllDocuments) {
  const Classifier model(golden_model("classifiers/reranker"));
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
  const std::vector<TextPair> many(68, {text, "b"});
  EXPECT_EQ(message_of<InputError>([&] { check_shared_texts(many, 0); }),
            "a text of 1000000 bytes for 68 inputs, expected at most 986895 bytes");
  EXPECT_EQ(message_of<InputError>([&] { hypotheses(std::vector<std::string>(68, "b"), "{}" + *text); }),
            "a template of 1000002 bytes for 68 inputs, expected at most 986895 bytes");
}

TEST(Classifier, RefusesWhatCannotBeRead) {
  const Classifier reranker(golden_model("classifiers/reranker")), inference(golden_model("classifiers/inference")),
      tagger(golden_model("classifiers/taggers/word_pieces")),
      embedder(golden_model("sentence_transformers/no_modules"));
  const std::vector<std::string> none, texts{"the cat sat on a mat"}, labels{"cats"};
  const std::vector<TextPair> pairs{{"a"}, {"the cat sat on a mat", "the cat sat on a mat"}};
  const ClassifyOptions too_long{.max_length = 20, .long_texts = LongSources::error},
      only_first{.max_length = 8, .truncation = Truncation::only_first};
  const TagOptions no_windows{.stride = 1}, stride{.max_length = 9, .aggregation = Aggregation::simple, .stride = 4},
      too_long_to_tag{.max_length = 2, .long_texts = LongSources::error};
  const std::pair<std::function<void()>, const char*> calls[] = {
      {[&] { reranker.rerank("a", none); }, "a query without documents, expected at least one"},
      {[&] { inference.rerank("a", texts); }, "3 labels, expected 1"},
      {[&] { inference.classify_by_labels(texts, none); }, "no labels, expected at least one"},
      {[&] { inference.classify_by_labels(texts, labels, {.hypothesis_template = "It is."}); },
       "hypothesis template 'It is.', expected one with {} for the label"},
      {[&] { inference.classify(pairs, too_long); }, "text 2: 29 tokens, expected at most 20"},
      {[&] { inference.classify(pairs, only_first); }, "text 2: 21 tokens too many, but only 13 in the first text"},
      {[&] { embedder.classify(pairs); }, "a model without a head for labels"},
      {[&] { reranker.tag(texts); }, "a classifier of texts, expected a classifier of tokens"},
      {[&] { tagger.classify(pairs); }, "a classifier of tokens, expected a classifier of texts"},
      {[&] { tagger.tag(texts, no_windows); }, "stride needs an aggregation"},
      {[&] { tagger.tag(texts, stride); }, "stride 4, expected at most 3 (half a window)"},
      {[&] { tagger.tag(texts, too_long_to_tag); }, "text 1: 15 tokens, expected at most 2"},
  };
  for (const auto& [call, message] : calls) EXPECT_THAT(message_of(call), HasSubstr(message));
}

TEST(Classifier, OnlyClassifies) {
  const Model modules = golden_model("classifiers/modules");
  EXPECT_EQ(Classifier(modules).labels()->ranking_function(), ScoreFunction::sigmoid);
  EXPECT_EQ(Classifier(golden_model("classifiers/modules_identity")).labels()->ranking_function(), ScoreFunction::none);
  EXPECT_THAT(
      message_of<ConfigError>([&] { Embedder(modules).embed({"a"}); }),
      HasSubstr("no dense vectors, expected a model with Pooling that is neither SpladePooling nor of a Cross"));
  const Model decoder = golden_model("classifiers/inference_decoder");
  EXPECT_FALSE(decoder.network()->decoder.has_value());
  EXPECT_FALSE(decoder.network()->output.has_value());
  EXPECT_THAT(message_of<ConfigError>([&] { decoder.generate({"a"}); }), HasSubstr("bart is a classifier"));
  EXPECT_THAT(message_of<ConfigError>([&] { Embedder(decoder).embed({"a"}); }), HasSubstr("bart has a decoder"));
  const std::vector<TokenIds> sources = {{0, 5, 2}, {0, 5}};
  EXPECT_EQ(message_of<InputError>([&] { decoder.forward(sources, {}); }),
            "source 2: no end token 2, expected one: the classifier reads its row");
  EXPECT_THAT(message_of<ConfigError>([&] {
                Model::load(ENCDEC_GOLDEN_DIR "/bart/base/model",
                            {.draft_model = golden("classifiers/inference_decoder") / "model"});
              }),
              HasSubstr("number of labels is 3, expected 0"));
}

TEST(Classifier, LabelsMustBeNumberedAndFitTheHeadOfTheWeights) {
  const TempFolder folder;
  std::filesystem::copy(golden("classifiers/inference") / "model", folder.path());
  json config = read_json_object(folder / "config.json").value();
  const auto message_with = [&](const char* key, const json& value) {
    config[key] = value;
    folder.write("config.json", config.dump());
    return message_of([&] { Classifier(Model::load(folder.path())); });
  };
  EXPECT_THAT(message_with("id2label", {{"0", "a"}, {"2", "b"}, {"3", "c"}}),
              HasSubstr("no label 1, expected labels from 0 to 2"));
  EXPECT_THAT(message_with("id2label", {{"0", "a"}, {"1", "b"}}),
              HasSubstr("tensor 'classifier.weight': shape [3, 16], expected [2, 16]"));
  EXPECT_EQ(message_with("id2label", {{"0", 0}, {"1", 1}, {"2", 2}}), "no exception");
  EXPECT_THAT(Classifier(Model::load(folder.path())).labels()->names(), testing::ElementsAre("0", "1", "2"));
  const std::filesystem::path tagger = ENCDEC_GOLDEN_DIR "/bert/tagger/model";
  config = read_json_object(tagger / "config.json").value();
  copy_file(tagger / "model.safetensors", folder / "model.safetensors",
            std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(message_with("architectures", json::array({"BertForSequenceClassification"})),
              HasSubstr("tensor 'bert.pooler.dense.weight' is missing"));
}

TEST(PairTruncation, EqualsThatOfTokenizers) {
  const json expected = read_json_object(kGoldens / "classifiers/truncation.json").value();
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
