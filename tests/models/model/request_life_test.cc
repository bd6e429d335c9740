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

std::vector<Kind> kinds() {
  const Model marian = model_cases::load("shared_swish");
  const GenerateOptions greedy{.max_new_tokens = 6, .min_new_tokens = 6};
  GenerateOptions beams = greedy, samples = greedy;
  beams.num_beams = 3;
  samples.do_sample = true;
  samples.seed = 3;
  return {{"text", marian, generating(greedy, false)},
          {"stream", marian, generating(greedy, true)},
          {"stream of beams", marian, generating(beams, true)},
          {"stream of samples", marian, generating(samples, true)}};
}

TEST(RequestLife, ACancelledRequestGetsNoMoreCallsAndTheOthersDoNotChange) {
  for (const Kind& kind : kinds()) check_cancelling(kind);
}

TEST(RequestLife, AQueueCanBeDestroyedAtAnyStep) {
  for (const Kind& kind : kinds()) check_stopping(kind);
}

}  // namespace
}  // namespace encdec::request_life
