#include "encdec/encoders/classifier.h"
#include "encdec/encoders/embedder.h"
#include "tests/models/model/request_life.h"
#include "tests/support/packed_folder.h"

namespace encdec::request_life {
namespace {

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

Model golden_model(const char* name) {
  return Model::load(unpacked(std::filesystem::path(ENCDEC_TOOLS_DIR) / "encoders/tests/golden" / name) / "model",
                     {.threads = 1});
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
