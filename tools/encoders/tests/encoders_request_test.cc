// Tests requests for vectors, labels and entities in a RequestQueue.
#include <latch>

#include "encdec/encoders/classifier.h"
#include "encdec/encoders/embedder.h"
#include "tests/models/model/request_life.h"

namespace encdec::request_life {
namespace {

Model golden_model(const char* name, int threads = 1) {
  return Model::load(std::filesystem::path(ENCDEC_TOOLS_DIR) / "encoders/tests/golden" / name / "model",
                     {.threads = threads});
}

TEST(EncodersQueue, VectorsAndScoresOfManyCallersEqualThoseAlone) {
  const Model model = golden_model("classifiers/reranker", 2);
  const std::vector<std::string> texts{"a", "a few more words, then", ""};
  const std::vector<TextPair> pairs{{"a"}, {"a few more words", "then"}, {"", "the last one of three"}};
  const EmbedOptions cut{.normalize = true, .dimensions = 3};
  const Embedder embedder(model);
  const Classifier classifier(model);
  const Tensor expected[] = {embedder.embed(texts), embedder.embed(texts, cut), classifier.classify(pairs)};
  struct Outcome {
    VectorResult results[3];
    std::latch missing{3};
  };
  std::vector<Outcome> outcomes(60);
  RequestQueue queue(model, {.workers = 2});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    Outcome& outcome = outcomes[i];
    const Handlers<VectorResult> handlers{.on_result =
                                              [&outcome](std::size_t text, VectorResult result) {
                                                outcome.results[text] = std::move(result);
                                                outcome.missing.count_down();
                                              },
                                          .on_failure =
                                              [&outcome](std::size_t text, const std::exception_ptr&) {
                                                ADD_FAILURE() << text;
                                                outcome.missing.count_down();
                                              }};
    i % 3 == 2 ? classifier.submit(queue, pairs, ClassifyOptions(), handlers)
               : embedder.submit(queue, texts, i % 3 == 0 ? EmbedOptions() : cut, handlers);
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].missing.wait();
    for (std::size_t t = 0; t < 3; ++t) {
      const float* row = expected[i % 3].row(static_cast<Dim>(t));
      const VectorResult& result = outcomes[i].results[t];
      EXPECT_EQ(result.values, std::vector<float>(row, row + expected[i % 3].width())) << i << ", " << t;
      if (i % 3 != 2) EXPECT_EQ(result.source_tokens, model.tokenizer()->encode(texts[t], {}).size());
    }
  }
}

// `describe` returns a result as text.
template <class Result, class Face, class Text, class Options, class Describe>
std::function<Request(RequestQueue&, Steps&, Calls&)> reading(const Face& face, const Text& text,
                                                              const Options& options, const Describe& describe) {
  return [=](RequestQueue& queue, Steps& steps, Calls& calls) {
    const std::vector<Text> texts{text};
    return face.submit(
        queue, texts, options,
        Handlers<Result>{
            .on_result = [&, describe](std::size_t, const auto& result) { calls.add(steps, describe(result), true); },
            .on_failure = [&](std::size_t, const std::exception_ptr&) { calls.add(steps, "failure", true); },
            .on_start = [&](std::size_t, std::size_t) { calls.add(steps, "start "); }});
  };
}

std::vector<Kind> kinds() {
  const auto vector = [](const VectorResult& result) { return "vector " + std::to_string(result.values.front()); };
  const auto entities = [](const std::vector<Entity>& found) { return found.front().label + " " + found.front().word; };
  const Embedder embedder(golden_model("sentence_transformers/mean_normalized"));
  const Classifier classifier(golden_model("classifiers/inference")),
      tagger(golden_model("classifiers/taggers/pieces"));
  return {
      {"embedding", embedder.model(),
       reading<VectorResult>(embedder, std::string("a few words"), EmbedOptions(), vector)},
      {"classification", classifier.model(),
       reading<VectorResult>(classifier, TextPair{"a few", "words"}, ClassifyOptions(), vector)},
      {"tagging", tagger.model(),
       reading<std::vector<Entity>>(tagger, std::string("a few words"), TagOptions{.ignore_labels = {}}, entities)}};
}

TEST(EncodersRequestLife, ACancelledRequestGetsNoMoreCallsAndTheOthersDoNotChange) {
  for (const Kind& kind : kinds()) check_cancelling(kind);
}

TEST(EncodersRequestLife, AQueueCanBeDestroyedAtAnyStep) {
  for (const Kind& kind : kinds()) check_stopping(kind);
}

}  // namespace
}  // namespace encdec::request_life
