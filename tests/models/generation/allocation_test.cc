// Tests the memory use of a search: its steps allocate nothing. This program replaces operator new.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "encdec/models/generation/generation_settings.h"
#include "encdec/models/model.h"
#include "tests/support/allocation_watch.h"

namespace encdec {
namespace {

constexpr int kTokens = 58;
// From this step on, all buffers have their final size. Buffers of tokens double their capacity, and the last doubling
// suffices to the end.
constexpr std::size_t kFirstQuietStep = 40;

// Calls generation twice, and returns the number of allocations of each step of the second call.
std::vector<int> allocations_by_step(GenerateOptions options, int sources) {
  const Model model =
      Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "marian" / "shared_swish" / "model", {.threads = 1});
  std::vector<GenerateInput> inputs;
  for (int i = 0; i < sources; ++i) inputs.push_back({TokenIds{5, 6, 3 + i}});
  std::vector<int> counts;
  counts.reserve(2 * kTokens);
  const AllocationWatch watch;
  int before = 0;
  options.min_new_tokens = options.max_new_tokens = kTokens;
  options.on_progress = [&](const GenerateProgress&) {
    counts.push_back(watch.count() - before);
    before = watch.count();
  };
  model.generate_inputs(inputs, options);
  counts.clear();
  model.generate_inputs(inputs, options);
  return counts;
}

TEST(GenerationAllocation, AStepAllocatesNothing) {
  const GenerateOptions processors{.coverage_penalty = 0.1f,
                                   .exponential_decay_length_penalty = ExponentialDecay{3, 1.1f},
                                   .repetition_penalty = 1.2f,
                                   .encoder_repetition_penalty = 1.1f,
                                   .no_repeat_ngram_size = 2,
                                   .encoder_no_repeat_ngram_size = 3,
                                   .bad_words = std::vector<TokenIds>{{5, 6}},
                                   .suppress_tokens = TokenIds{7},
                                   .begin_suppress_tokens = TokenIds{8}};
  const std::pair<const char*, GenerateOptions> kCases[] = {
      {"greedy", {.num_beams = 1}},
      {"beams", {.num_beams = 4}},
      {"sampling", {.num_beams = 1, .do_sample = true, .temperature = 1.5f, .top_k = 20, .top_p = 0.9f}},
      {"samples", {.num_beams = 1, .num_return_sequences = 3, .do_sample = true, .top_k = 0, .top_p = 0.5f}},
      {"sampled beams", {.num_beams = 4, .do_sample = true, .top_k = 20, .top_p = 0.9f}},
      {"greedy with processors", GenerateOptions{.num_beams = 1} | processors},
      {"beams with processors", GenerateOptions{.num_beams = 3} | processors},
      {"forced phrases", {.num_beams = 3, .force_words = std::vector<TokenIds>{{9, 10, 11}, {12}}}}};
  for (const auto& [name, options] : kCases) {
    for (const int sources : {1, 3}) {
      const std::vector<int> counts = allocations_by_step(options, sources);
      ASSERT_EQ(counts.size(), static_cast<std::size_t>(kTokens));
      EXPECT_GT(counts.front(), 0) << "allocations are not counted";
      // The last step allocates the results.
      for (std::size_t step = kFirstQuietStep; step + 1 < counts.size(); ++step) {
        EXPECT_EQ(counts[step], 0) << name << ": step " << step << ", " << sources << " sources";
      }
    }
  }
}

}  // namespace
}  // namespace encdec
