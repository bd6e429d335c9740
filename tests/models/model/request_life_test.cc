#include "tests/models/model/request_life.h"

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

Request embed(RequestQueue& queue, Steps& steps, Calls& calls) {
  const std::vector<std::string> texts{"a few words"};
  return queue.submit(texts, {},
                      {.on_result =
                           [&](std::size_t, const VectorResult& result) {
                             calls.add(steps, "vector " + std::to_string(result.values.front()), true);
                           },
                       .on_failure = [&](std::size_t, const std::exception_ptr&) { calls.add(steps, "failure", true); },
                       .on_start = [&](std::size_t, std::size_t) { calls.add(steps, "start "); }});
}

std::vector<Kind> kinds() {
  const Model marian = model_cases::load("shared_swish"),
              embedder =
                  Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "sentence_transformers/mean_normalized/model",
                              {.threads = 1});
  const GenerateOptions greedy{.max_new_tokens = 6, .min_new_tokens = 6};
  GenerateOptions beams = greedy, samples = greedy;
  beams.num_beams = 3;
  samples.do_sample = true;
  samples.seed = 3;
  return {{"text", marian, generating(greedy, false)},
          {"stream", marian, generating(greedy, true)},
          {"stream of beams", marian, generating(beams, true)},
          {"stream of samples", marian, generating(samples, true)},
          {"embedding", embedder, &embed}};
}

TEST(RequestLife, ACancelledRequestGetsNoMoreCallsAndTheOthersDoNotChange) {
  for (const Kind& kind : kinds()) check_cancelling(kind);
}

TEST(RequestLife, AQueueCanBeDestroyedAtAnyStep) {
  for (const Kind& kind : kinds()) check_stopping(kind);
}

}  // namespace
}  // namespace encdec::request_life
