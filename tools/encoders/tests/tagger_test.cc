// Compares the entities of golden/classifiers/taggers with the results of transformers' pipeline.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "encdec/encoders/classifier.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/model.h"
#include "tests/support/message_of.h"
#include "tests/support/packed_folder.h"

namespace encdec {
namespace {

const std::filesystem::path kTaggers =
    std::filesystem::path(ENCDEC_TOOLS_DIR) / "encoders/tests/golden/classifiers/taggers";

class TaggerGolden : public testing::TestWithParam<const char*> {};

void expect_equal(const std::vector<std::vector<Entity>>& found, const nlohmann::json& rows, bool is_aggregated) {
  ASSERT_EQ(found.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(found[i].size(), rows[i].size()) << "text " << i;
    for (std::size_t k = 0; k < found[i].size(); ++k) {
      const Entity& entity = found[i][k];
      const nlohmann::json& wanted = rows[i][k];
      EXPECT_EQ(entity.label, wanted.at(is_aggregated ? "entity_group" : "entity"));
      EXPECT_NEAR(entity.score, wanted["score"].get<float>(), 2e-6);
      EXPECT_EQ(entity.word, wanted["word"]);
      EXPECT_EQ(entity.characters.begin, wanted["start"]);
      EXPECT_EQ(entity.characters.end, wanted["end"]);
      if (!is_aggregated) {
        EXPECT_EQ(entity.token, wanted["index"]);
      }
    }
  }
}

TEST_P(TaggerGolden, EntitiesEqualThePipelineInAnyBatch) {
  const nlohmann::json expected = read_json_object(unpacked(kTaggers / GetParam()) / "expected.json").value();
  const auto texts = expected["texts"].get<std::vector<std::string>>();
  const auto long_texts = expected["long texts"].get<std::vector<std::string>>();
  const Classifier model(Model::load(unpacked(kTaggers / GetParam()) / "model", {.threads = 2}));
  for (const auto& [aggregation, name] : kAggregationNames) {
    for (const int batch_size : {0, 1}) {
      TagOptions options{.batch_size = batch_size, .aggregation = aggregation};
      SCOPED_TRACE(name);
      expect_equal(model.tag(texts, options), expected.at(std::string(name)), aggregation != Aggregation::none);
      options.ignore_labels = {};
      expect_equal(model.tag(texts, options), expected.at(std::string(name) + " all"),
                   aggregation != Aggregation::none);
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

INSTANTIATE_TEST_SUITE_P(Taggers, TaggerGolden, testing::Values("word_pieces", "byte_pairs", "pieces"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(Tagger, BytesAndCharactersAreTheSamePart) {
  const Classifier model(Model::load(unpacked(kTaggers / "word_pieces") / "model"));
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

TEST(Tagger, RefusesOtherModels) {
  const std::vector<std::string> texts{"a"};
  const Classifier classifier(Model::load(unpacked(kTaggers.parent_path() / "reranker") / "model"));
  EXPECT_THAT(message_of<ConfigError>([&] { classifier.tag(texts); }),
              testing::HasSubstr("a classifier of texts, expected a classifier of tokens"));
  const Classifier tagger(Model::load(unpacked(kTaggers / "word_pieces") / "model"));
  EXPECT_THAT(message_of<ConfigError>([&] { tagger.classify(std::vector<TextPair>{{"a"}}); }),
              testing::HasSubstr("a classifier of tokens, expected a classifier of texts"));
  EXPECT_THAT(message_of<ConfigError>([&] { tagger.tag(texts, {.stride = 1}); }),
              testing::HasSubstr("stride needs an aggregation"));
  EXPECT_THAT(message_of<InputError>(
                  [&] { tagger.tag(texts, {.max_length = 9, .aggregation = Aggregation::simple, .stride = 4}); }),
              testing::HasSubstr("stride 4, expected at most 3: half of the text tokens of a window"));
  EXPECT_THAT(message_of<InputError>([&] { tagger.tag(texts, {.max_length = 2, .long_texts = LongSources::error}); }),
              testing::HasSubstr("text 1: 3 tokens, expected at most 2"));
}

}  // namespace
}  // namespace encdec
