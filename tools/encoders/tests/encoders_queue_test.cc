// Tests requests for vectors in a RequestQueue.
#include <gtest/gtest.h>

#include <filesystem>
#include <latch>

#include "encdec/encoders/classifier.h"
#include "encdec/encoders/embedder.h"
#include "encdec/models/model/request_queue.h"
#include "tests/support/packed_folder.h"

namespace encdec {
namespace {

constexpr std::size_t kTexts = 3;  // number of texts in each request

// The vectors of a request.
struct Vectors {
  Handlers<VectorResult> handlers() {
    return {.on_result =
                [this](std::size_t text, VectorResult result) {
                  results[text] = std::move(result);
                  missing.count_down();
                },
            .on_failure =
                [this](std::size_t text, const std::exception_ptr&) {
                  ADD_FAILURE() << text;
                  missing.count_down();
                }};
  }

  VectorResult results[kTexts];
  std::latch missing{kTexts};
};

TEST(EncodersQueue, ScoresAndEmbeddingsOfOneBatchEqualThoseAlone) {
  const std::filesystem::path folder = unpacked(ENCDEC_TOOLS_DIR "/encoders/tests/golden/classifiers/reranker");
  const Model model = Model::load(folder / "model", {.threads = 2});
  const std::vector<std::string> texts{"a", "a few more words, then", "the last"};
  const std::vector<TextPair> pairs{{"a"}, {"a few more words", "then"}, {"", "the last one of three"}};
  const Embedder embedder(model);
  const Classifier classifier(model);
  const Tensor expected = embedder.embed(texts), expected_scores = classifier.classify(pairs);
  std::vector<Vectors> outcomes(60);
  RequestQueue queue(model, {.workers = 2});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    i % 2 == 0 ? embedder.submit(queue, texts, EmbedOptions(), outcomes[i].handlers())
               : classifier.submit(queue, pairs, ClassifyOptions(), outcomes[i].handlers());
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].missing.wait();
    const Tensor& rows = i % 2 == 0 ? expected : expected_scores;
    for (std::size_t t = 0; t < 3; ++t) {
      const float* row = rows.row(static_cast<Dim>(t));
      EXPECT_EQ(outcomes[i].results[t].values, std::vector<float>(row, row + rows.width())) << i << ", " << t;
    }
  }
}

TEST(EncodersQueue, EmbeddingsOfManyCallersEqualThoseOfOne) {
  const std::filesystem::path folder =
      unpacked(ENCDEC_TOOLS_DIR "/encoders/tests/golden/sentence_transformers/mean_normalized");
  const Model model = Model::load(folder / "model", {.threads = 2});
  const std::vector<std::string> texts{"a few more words, then", "", "and a last one"};
  const EmbedOptions cut{.normalize = true, .dimensions = 3};
  const Embedder embedder(model);
  const Tensor expected = embedder.embed(texts), expected_cut = embedder.embed(texts, cut);
  std::vector<Vectors> outcomes(60);
  RequestQueue queue(model, {.workers = 2});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    embedder.submit(queue, texts, i % 2 == 0 ? EmbedOptions() : cut, outcomes[i].handlers());
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].missing.wait();
    const Tensor& rows = i % 2 == 0 ? expected : expected_cut;
    for (std::size_t t = 0; t < texts.size(); ++t) {
      const float* row = rows.row(static_cast<Dim>(t));
      EXPECT_EQ(outcomes[i].results[t].values, std::vector<float>(row, row + rows.width()));
      EXPECT_EQ(outcomes[i].results[t].source_tokens, model.tokenizer()->encode(texts[t], {}).size());
    }
  }
}

}  // namespace
}  // namespace encdec
