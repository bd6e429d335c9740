// Tests the invariants of tests/models/invariants.h on the tasks of encoders.
#include "tests/models/invariants.h"

#include "encdec/encoders/classifier.h"
#include "encdec/encoders/embedder.h"
#include "tools/encoders/tests/goldens.h"

namespace encdec::invariants {
namespace {

std::string bytes_of(const VectorResult& result) {
  return std::string(reinterpret_cast<const char*>(result.values.data()), result.values.size() * sizeof(float)) +
         std::to_string(result.source_tokens);
}

std::string bytes_of(const std::vector<Entity>& entities) {
  std::string text;
  for (const Entity& entity : entities) text += entity.label + ' ' + entity.word + ' ' + std::to_string(entity.score);
  return text;
}

// Returns a task of `Face`, which is an Embedder or a Classifier. Request i uses texts[i] and options[i], both
// cyclically.
template <class Result, class Face, class Text, class Options>
Task reading(const std::string& name, const std::string& model, const std::vector<Text>& texts,
             const std::vector<Options>& options) {
  const auto load_face = [=](const LoadOptions& with) {
    const Face face(golden_model(model, with));
    return Worker{face.model(), [=](RequestQueue& queue, std::size_t source, Steps& steps, Calls& calls) {
                    return face.submit(
                        queue, std::span(&texts[source % texts.size()], 1), options[source % options.size()],
                        Handlers<Result>{
                            .on_result = [&](std::size_t, const Result& result) { calls.end(steps, bytes_of(result)); },
                            .on_failure = [&](std::size_t, const std::exception_ptr& e) { calls.fail(steps, e); },
                            .on_start = [&](std::size_t, std::size_t) { calls.add(steps); }});
                  }};
  };
  return {.name = name, .sources = 60, .load = load_face};
}

const std::vector<std::string> kTexts{"a few more words, then", "", "a", "the last one of them", "the cat"};
const std::vector<TextPair> kPairs{{"a"}, {"a few more words", "then"}, {"", "the last one of three"}};

INSTANTIATE_TEST_SUITE_P(
    Encoders, Invariants,
    testing::Values(
        reading<VectorResult, Embedder>("Embed", "sentence_transformers/mean_normalized", kTexts,
                                        std::vector<EmbedOptions>{{}, {.normalize = true, .dimensions = 3}}),
        reading<VectorResult, Classifier>("Classify", "classifiers/inference", kPairs,
                                          std::vector<ClassifyOptions>{{}}),
        reading<VectorResult, Classifier>("Rerank", "classifiers/reranker", kPairs, std::vector<ClassifyOptions>{{}}),
        reading<std::vector<Entity>, Classifier>("Tag", "classifiers/taggers/pieces", kTexts,
                                                 std::vector<TagOptions>{{.ignore_labels = {}}})),
    kName);

}  // namespace
}  // namespace encdec::invariants
