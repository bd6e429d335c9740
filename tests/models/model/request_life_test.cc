#include "tests/models/model/request_life.h"

#include "encdec/encoders/classifier.h"
#include "encdec/encoders/embedder.h"
#include "tests/models/model_cases.h"

namespace encdec::request_life {
namespace {

std::function<Request(RequestQueue&, Steps&, Calls&)> generating(const GenerateOptions& options, bool is_stream) {
  return [=](RequestQueue& queue, Steps& steps, Calls& calls) {
    GenerateHandlers handlers{
        .on_result =
            [&](std::size_t, const GenerateResult& result) {
              calls.add(steps, "result " + ids(result.hypotheses.front().token_ids), true);
            },
        .on_failure = [&](std::size_t, const std::exception_ptr&) { calls.add(steps, "failure", true); },
        .on_start = [&](std::size_t, std::size_t) { calls.add(steps, "start "); }};
    if (is_stream) {
      handlers.on_tokens = [&](std::size_t, std::span<const std::int32_t> tokens, std::span<const float>) {
        calls.add(steps, "tokens " + ids(tokens));
      };
    }
    const GenerateInput input{.source = TokenIds{1, 2, 3}, .prefix = TokenIds{4, 5}};
    return queue.submit(std::span(&input, 1), options, handlers);
  };
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

Model golden_model(const char* name) {
  return Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / name / "model", {.threads = 1});
}

std::vector<Kind> kinds() {
  const Model marian = model_cases::load("shared_swish");
  const auto vector = [](const VectorResult& result) { return "vector " + std::to_string(result.values.front()); };
  const auto entities = [](const std::vector<Entity>& found) { return found.front().label + " " + found.front().word; };
  const GenerateOptions greedy{.max_new_tokens = 6, .min_new_tokens = 6};
  GenerateOptions beams = greedy, samples = greedy;
  beams.num_beams = 3;
  samples.do_sample = true;
  samples.seed = 3;
  const Embedder embedder(golden_model("sentence_transformers/mean_normalized"));
  const Classifier classifier(golden_model("classifiers/inference")),
      tagger(golden_model("classifiers/taggers/pieces"));
  return {
      {"text", marian, generating(greedy, false)},
      {"stream", marian, generating(greedy, true)},
      {"stream of beams", marian, generating(beams, true)},
      {"stream of samples", marian, generating(samples, true)},
      {"embedding", embedder.model(),
       reading<VectorResult>(embedder, std::string("a few words"), EmbedOptions(), vector)},
      {"classification", classifier.model(),
       reading<VectorResult>(classifier, TextPair{"a few", "words"}, ClassifyOptions(), vector)},
      {"tagging", tagger.model(),
       reading<std::vector<Entity>>(tagger, std::string("a few words"), TagOptions{.ignore_labels = {}}, entities)}};
}

TEST(RequestLife, ACancelledRequestGetsNoMoreCallsAndTheOthersDoNotChange) {
  for (const Kind& kind : kinds()) check_cancelling(kind);
}

TEST(RequestLife, AQueueCanBeDestroyedAtAnyStep) {
  for (const Kind& kind : kinds()) check_stopping(kind);
}

}  // namespace
}  // namespace encdec::request_life
