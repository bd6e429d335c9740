// Tests that a source has the same result, bit by bit, with any other sources, batch size, number of threads and number
// of workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/model.h"
#include "tests/support/batch_dependence.h"
#include "tests/support/random_marian.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

constexpr int kVocabulary = RandomMarian::kVocabulary;
constexpr std::int32_t kEnd = RandomMarian::kEnd;
#if defined(__SANITIZE_THREAD__)
constexpr int kSources = 60, kLongestSource = 50;  // the thread sanitizer is about 60 times slower
#else
constexpr int kSources = 300, kLongestSource = 200;
#endif

std::vector<GenerateInput> random_inputs() {
  RandomTensors random(12);
  const auto some_ids = [&](int count) {
    TokenIds ids(static_cast<std::size_t>(count));
    for (std::int32_t& id : ids) id = 1 + random.below(kVocabulary - 2);
    return ids;
  };
  std::vector<GenerateInput> inputs;
  for (int i = 0; i < kSources; ++i) {
    // Most sources are short, as in real text. The length does not depend on the position.
    const int length = 1 + random.below(random.below(4) == 0 ? kLongestSource : 25);
    GenerateInput input{some_ids(length)};
    if (random.below(5) == 0) input.prefix = some_ids(1 + random.below(4));
    inputs.push_back(std::move(input));
  }
  inputs[17].source = some_ids(kLongestSource);
  inputs[18].source = some_ids(1);
  return inputs;
}

// Returns all numbers of a result as bytes.
std::string bytes_of(const GenerateResult& result) {
  std::string bytes;
  const auto append = [&](const auto* data, std::size_t count) {
    bytes += std::to_string(count) + ':';
    bytes.append(reinterpret_cast<const char*>(data), count * sizeof(*data));
  };
  bytes += std::to_string(result.hypotheses.size()) + ':';
  for (const Hypothesis& hypothesis : result.hypotheses) {
    append(hypothesis.token_ids.data(), hypothesis.token_ids.size());
    append(&hypothesis.score, 1);
    append(hypothesis.token_scores.data(), hypothesis.token_scores.size());
  }
  return bytes;
}

std::vector<std::string> generate(const Model& model, std::span<const GenerateInput> inputs,
                                  const GenerateOptions& options) {
  std::vector<std::string> all;
  for (const GenerateResult& result : model.generate_inputs(inputs, options)) all.push_back(bytes_of(result));
  return all;
}

// How sources are batched and run.
struct Execution {
  int batch_size;
  int threads;
  int workers;
};

// Each is compared with batches of one source, one thread and one worker. Batches of one source take the longest.
constexpr std::array<Execution, 8> kExecutions = {
    {{1, 2, 2}, {7, 1, 1}, {7, 1, 2}, {7, 2, 1}, {64, 1, 1}, {64, 1, 2}, {64, 2, 1}, {64, 2, 2}}};

struct Search {
  std::string name;
  GenerateOptions options;
  Precision precision = Precision::float32;
  RandomMarian::HiddenDims hidden = {};
};

void PrintTo(const Search& search, std::ostream* stream) {
  *stream << search.name;
}

Model load(const RandomMarian& checkpoint, int threads, Precision precision,
           std::optional<Precision> draft_precision = {}) {
  return Model::load(checkpoint.folder(),
                     {.threads = threads, .precision = precision, .draft_precision = draft_precision});
}

class Determinism : public testing::TestWithParam<Search> {
 protected:
  void SetUp() override {
    const RandomMarian checkpoint(GetParam().hidden);
    models_.push_back(load(checkpoint, 1, GetParam().precision));
    models_.push_back(load(checkpoint, 2, GetParam().precision));
  }

  std::vector<Model> models_;  // with 1 thread and with 2 threads
};

TEST_P(Determinism, ASourceGetsTheSameBytesHoweverItIsRun) {
  if (depends_on_batch(models_[0])) GTEST_SKIP() << models_[0].notes().precision;
  const std::vector<GenerateInput> inputs = random_inputs();
  GenerateOptions options = GetParam().options;
  options.batch_size = 1;
  options.workers = 1;
  const auto expected = generate(models_[0], inputs, options);
  RandomTensors random(13);
  for (const Execution& execution : kExecutions) {
    options.batch_size = execution.batch_size;
    options.workers = execution.workers;
    const Model& model = models_[static_cast<std::size_t>(execution.threads - 1)];
    const auto order = random.permutation(kSources);
    std::vector<GenerateInput> shuffled;
    for (const int i : order) shuffled.push_back(inputs[static_cast<std::size_t>(i)]);
    // Two calls, so that other sources are batched together than in a single call.
    const auto split = static_cast<std::size_t>(random.below(kSources));
    auto found = generate(model, std::span(shuffled).first(split), options);
    std::ranges::move(generate(model, std::span(shuffled).subspan(split), options), std::back_inserter(found));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i], expected[static_cast<std::size_t>(order[i])])
          << "source " << order[i] << ", batch size " << execution.batch_size << ", threads " << execution.threads
          << ", workers " << execution.workers;
    }
  }
}

// Returns the inputs with guesses of their results: right ones, and wrong ones of several kinds.
std::vector<GenerateInput> with_drafts(std::vector<GenerateInput> inputs, const std::vector<GenerateResult>& results) {
  RandomTensors random(14);
  const auto some_id = [&] { return random.below(kVocabulary); };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TokenIds draft = results[i].hypotheses.front().token_ids;
    switch (i % 6) {
      case 0: break;
      case 1:  // half right
        for (std::size_t k = 0; k < draft.size(); k += 1 + static_cast<std::size_t>(random.below(4)))
          draft[k] = some_id();
        break;
      case 2:  // tokens inserted and left out
        for (int n = 0; n < 4; ++n) {
          draft.insert(draft.begin() + random.below(static_cast<int>(draft.size()) + 1), some_id());
          draft.erase(draft.begin() + random.below(static_cast<int>(draft.size())));
        }
        break;
      case 3:  // longer than the result
        for (int n = 0; n < 40; ++n) draft.push_back(some_id());
        break;
      case 4: draft = results[(i + 1) % results.size()].hypotheses.front().token_ids; break;
      default:
        for (std::int32_t& id : draft) id = some_id();
    }
    inputs[i].draft = std::move(draft);
  }
  return inputs;
}

class DeterminismOfGuesses : public Determinism {
 protected:
  void SetUp() override {
    Determinism::SetUp();
    if (depends_on_batch(models_[0])) GTEST_SKIP() << models_[0].notes().precision;
    inputs_.resize(kSources / 10);
    expected_ = generate(models_[0], inputs_, options_);
  }

  std::vector<GenerateInput> inputs_ = random_inputs();
  GenerateOptions options_ = GetParam().options;
  std::vector<std::string> expected_;  // without guesses
};

TEST_P(DeterminismOfGuesses, ASourceGetsTheSameBytesWithAnyDraft) {
  const std::vector<GenerateInput> drafted = with_drafts(inputs_, models_[0].generate_inputs(inputs_, options_));
  for (const std::optional<int> tokens : {std::optional<int>(), {1}, {3}, {32}}) {
    for (const Execution& execution : {Execution{1, 1, 1}, {7, 2, 1}, {64, 1, 2}}) {
      options_.num_assistant_tokens = tokens;
      options_.batch_size = execution.batch_size;
      options_.workers = execution.workers;
      const Model& model = models_[static_cast<std::size_t>(execution.threads - 1)];
      options_.draft_source = false;
      options_.prompt_lookup_num_tokens = 0;
      EXPECT_EQ(generate(model, drafted, options_), expected_) << tokens.value_or(0);
      options_.draft_source = true;
      options_.prompt_lookup_num_tokens = 4;
      EXPECT_EQ(generate(model, inputs_, options_), expected_) << tokens.value_or(0) << ", of the source";
    }
  }
}

TEST_P(DeterminismOfGuesses, ASourceGetsTheSameBytesWithAnyModelThatGuesses) {
  const RandomMarian checkpoint(GetParam().hidden), other({.encoder = 24, .decoder = 40});
  const Model model = Model::load(checkpoint.folder(),
                                  {.threads = 2, .precision = GetParam().precision, .draft_model = other.folder()});
  for (const int batch_size : {1, 4}) {
    options_.batch_size = batch_size;
    EXPECT_EQ(generate(model, inputs_, options_), expected_);
  }
}

TEST_P(DeterminismOfGuesses, ASourceGetsTheSameBytesWithACopyThatGuesses) {
  const RandomMarian checkpoint(GetParam().hidden);
  for (const Precision draft : {Precision::int8, Precision::bfloat16}) {
    if (draft == GetParam().precision) continue;
    for (const Execution& execution : {Execution{1, 1, 1}, {3, 2, 2}, {7, 1, 1}}) {
      const Model model = load(checkpoint, execution.threads, GetParam().precision, draft);
      options_.batch_size = execution.batch_size;
      options_.workers = execution.workers;
      DraftCounts counts;
      options_.on_progress = [&](const GenerateProgress& progress) { counts = progress.drafts; };
      for (const std::optional<int> tokens : {std::optional<int>(), {1}, {30}}) {
        options_.num_assistant_tokens = tokens;
        EXPECT_EQ(generate(model, inputs_, options_), expected_) << to_string(draft) << ", " << tokens.value_or(0);
        if (*options_.num_beams > 1 || execution.batch_size > 1) continue;
        EXPECT_GT(counts.accepted, counts.rounds / 2) << "few guesses are right";
        EXPECT_LT(counts.accepted, counts.proposed) << "no guess is wrong";
      }
    }
  }
}

// Without this, equal bytes would show little.
TEST_P(Determinism, TheResultsHaveManyLengthsAndTokens) {
  std::set<std::size_t> lengths;
  std::set<std::int32_t> tokens;
  std::size_t ended = 0;
  for (const auto& result : models_[0].generate_inputs(random_inputs(), GetParam().options)) {
    const TokenIds& ids = result.hypotheses.front().token_ids;
    lengths.insert(ids.size());
    tokens.insert(ids.begin(), ids.end());
    ended += !ids.empty() && ids.back() == kEnd;
  }
  EXPECT_GE(lengths.size(), 10u);
  EXPECT_GE(tokens.size(), 40u);
  EXPECT_GE(ended, kSources / 10u);
  EXPECT_LE(ended, kSources * 9u / 10);
}

// As in large models: for matmuls with this many inputs oneDNN uses other kernels.
constexpr RandomMarian::HiddenDims kWide = {.encoder = 2048, .decoder = 4096};

const std::array kSearches = {
    Search{"Greedy", {.num_beams = 1}},
    Search{"Beams", {.num_beams = 4, .num_return_sequences = 4, .length_penalty = 0.6f}},
    Search{"Sampling",
           {.num_beams = 1, .do_sample = true, .temperature = 0.9f, .top_k = 30, .top_p = 0.95f, .seed = 5}},
    Search{"GreedyBfloat16", {.num_beams = 1}, Precision::bfloat16},
    Search{"BeamsBfloat16", {.num_beams = 4, .num_return_sequences = 4}, Precision::bfloat16},
    Search{"GreedyInt8", {.num_beams = 1}, Precision::int8},
    Search{"BeamsInt8", {.num_beams = 4, .num_return_sequences = 4}, Precision::int8},
    Search{"GreedyWide", {.num_beams = 1}, Precision::float32, kWide},
    Search{"GreedyWideBfloat16", {.num_beams = 1}, Precision::bfloat16, kWide},
    Search{"GreedyWideInt8", {.num_beams = 1}, Precision::int8, kWide},
};

constexpr auto kName = [](const testing::TestParamInfo<Search>& instance) { return instance.param.name; };
INSTANTIATE_TEST_SUITE_P(Searches, Determinism, testing::ValuesIn(kSearches), kName);
INSTANTIATE_TEST_SUITE_P(Searches, DeterminismOfGuesses, testing::ValuesIn(kSearches), kName);

}  // namespace
}  // namespace encdec
