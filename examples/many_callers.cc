// Shares one model between several callers. Each caller submits a request with its own options to a queue, which
// decodes all requests together.
//
//     many_callers [MODEL_FOLDER]      by default the bundled model english-pronunciation
#include <encdec/models/model/request_queue.h>

#include <cstdio>
#include <exception>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

// Submits one source and returns a future for its result.
std::future<encdec::GenerateResult> generate(encdec::RequestQueue& queue, const std::string& source,
                                             const encdec::GenerateOptions& options) {
  auto promise = std::make_shared<std::promise<encdec::GenerateResult>>();
  auto result = promise->get_future();
  const encdec::GenerateInput input{source};
  queue.submit(std::span(&input, 1), options,
               {.on_result = [promise](std::size_t, auto found) { promise->set_value(std::move(found)); },
                .on_failure = [promise](std::size_t, auto failure) { promise->set_exception(failure); }});
  return result;
}

void run(const char* folder) {
  encdec::RequestQueue queue(encdec::Model::load(folder));

  // Submit a large request, which is cancelled below. The cancellation does not affect the other requests.
  const std::vector<encdec::GenerateInput> unwanted(100, encdec::GenerateInput{"antidisestablishmentarianism"});
  const encdec::Request request = queue.submit(
      unwanted, {.num_beams = 4}, {.on_result = [](std::size_t, auto) {}, .on_failure = [](std::size_t, auto) {}});

  // Submit three requests with different options. The queue decodes all three in the same batch.
  auto greedy = generate(queue, "photography", {});
  auto beams = generate(queue, "photograph", {.num_beams = 4, .num_return_sequences = 2});
  auto short_one = generate(queue, "photographic", {.max_new_tokens = 4});
  request.cancel();

  // Wait for each result. "..." marks a text that reached the maximum length.
  for (auto* result : {&greedy, &beams, &short_one}) {
    const encdec::GenerateResult found = result->get();
    std::printf("%zu tokens read\n", found.source_tokens);
    for (const encdec::Hypothesis& hypothesis : found.hypotheses) {
      const bool is_whole = hypothesis.finish_reason == encdec::FinishReason::stop;
      std::printf("  %s%s\n", hypothesis.text.c_str(), is_whole ? "" : " ...");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: many_callers [MODEL_FOLDER]\n");
    return 2;
  }
  try {
    run(argc > 1 ? argv[1] : ENCDEC_EXAMPLE_INPUT);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
