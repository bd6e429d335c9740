// The tasks of the core for which tests/models/invariants.h states what holds.
#include "tests/models/invariants.h"

#include <algorithm>
#include <array>
#include <set>

#include "encdec/engine/backend/backends.h"
#include "encdec/models/model.h"
#include "tests/support/random_marian.h"

namespace encdec::invariants {
namespace {

constexpr int kVocabulary = RandomMarian::kVocabulary;
#if defined(__SANITIZE_THREAD__)
constexpr int kSources = 60, kLongestSource = 50;  // the thread sanitizer is about 60 times slower
#else
constexpr int kSources = 300, kLongestSource = 200;
#endif

// A checkpoint of a test.
struct TestModel {
  const std::filesystem::path& (*folder)();
  int vocabulary = kVocabulary;
  bool takes_prefixes = true;
};

TokenIds random_ids(RandomTensors& random, int count, const TestModel& of) {
  TokenIds ids(static_cast<std::size_t>(count));
  for (std::int32_t& id : ids) id = 1 + random.below(of.vocabulary - 2);
  return ids;
}

std::vector<GenerateInput> random_inputs(const TestModel& of) {
  RandomTensors random(12);
  std::vector<GenerateInput> inputs;
  for (int i = 0; i < kSources; ++i) {
    // Most sources are short, as in real text. The length does not depend on the position.
    GenerateInput input{random_ids(random, 1 + random.below(random.below(4) == 0 ? kLongestSource : 25), of)};
    if (random.below(5) == 0) {
      TokenIds prefix = random_ids(random, 1 + random.below(4), of);
      if (of.takes_prefixes) input.prefix = std::move(prefix);
    }
    inputs.push_back(std::move(input));
  }
  inputs[17].source = random_ids(random, kLongestSource, of);
  inputs[18].source = random_ids(random, 1, of);
  return inputs;
}

// Returns all numbers of a result as bytes.
std::string bytes_of(const GenerateResult& result) {
  std::string bytes;
  const auto append = [&](const auto* data, std::size_t count) {
    bytes += std::to_string(count) + ':';
    bytes.append(reinterpret_cast<const char*>(data), count * sizeof(*data));
  };
  for (const Hypothesis& hypothesis : result.hypotheses) {
    append(hypothesis.token_ids.data(), hypothesis.token_ids.size());
    append(&hypothesis.score, 1);
    append(hypothesis.token_scores.data(), hypothesis.token_scores.size());
  }
  return bytes;
}

// Tokens are streamed if there is one sequence.
Worker generator(const Model& model, std::vector<GenerateInput> inputs, const GenerateOptions& options) {
  TokenIds too_long(20'000, 5);
  inputs.push_back({std::move(too_long)});
  return {model, [=](RequestQueue& queue, std::size_t source, Steps& steps, Calls& calls) {
            GenerateHandlers handlers{
                .on_result = [&](std::size_t, const GenerateResult& result) { calls.end(steps, bytes_of(result)); },
                .on_failure = [&](std::size_t, const std::exception_ptr& failure) { calls.fail(steps, failure); },
                .on_start = [&](std::size_t, std::size_t) { calls.add(steps); }};
            if (options.num_return_sequences.value_or(1) == 1) {
              handlers.on_tokens = [&](std::size_t, std::span<const std::int32_t>, std::span<const float>) {
                calls.add(steps);
              };
            }
            return queue.submit(std::span(&inputs[source], 1), options, handlers);
          }};
}

// Returns the inputs with draft tokens: right ones, and wrong ones of several kinds.
std::vector<GenerateInput> with_drafts(std::vector<GenerateInput> inputs, const std::vector<GenerateResult>& results,
                                       const TestModel& of) {
  RandomTensors random(14);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TokenIds draft = results[i].hypotheses.front().token_ids;
    switch (i % 6) {
      case 0: break;
      case 1:  // half right
        for (std::size_t k = 0; k < draft.size(); k += 1 + static_cast<std::size_t>(random.below(4)))
          draft[k] = random.below(of.vocabulary);
        break;
      case 2:  // tokens inserted and left out
        for (int n = 0; n < 4; ++n) {
          draft.insert(draft.begin() + random.below(static_cast<int>(draft.size()) + 1), random.below(of.vocabulary));
          draft.erase(draft.begin() + random.below(static_cast<int>(draft.size())));
        }
        break;
      case 3:  // longer than the result
        for (int n = 0; n < 40; ++n) draft.push_back(random.below(of.vocabulary));
        break;
      case 4: draft = results[(i + 1) % results.size()].hypotheses.front().token_ids; break;
      default: draft = random_ids(random, static_cast<int>(draft.size()), of);
    }
    inputs[i].draft = std::move(draft);
  }
  return inputs;
}

const std::filesystem::path& small() {
  static const RandomMarian checkpoint;
  return checkpoint.folder();
}

// As in large models: for matmuls with this many inputs oneDNN uses other kernels.
const std::filesystem::path& wide() {
  static const RandomMarian checkpoint({.encoder = 2048, .decoder = 4096});
  return checkpoint.folder();
}

const std::filesystem::path& other() {
  static const RandomMarian checkpoint({.encoder = 24, .decoder = 40});
  return checkpoint.folder();
}

// Grouped keys, windows that are shorter than most targets, caps, norms of heads: golden checkpoints.
const std::filesystem::path& decoder_with_windows() {
  static const auto folder = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "gemma2" / "base" / "model";
  return folder;
}
const std::filesystem::path& merged_decoder() {
  static const auto folder = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "t5gemma2" / "base" / "model";
  return folder;
}

const TestModel kSmall{small}, kWide{wide}, kDecoder{decoder_with_windows, 30, false}, kMerged{merged_decoder, 30};

Task generating(const std::string& name, const GenerateOptions& options, Precision precision = Precision::float32,
                const TestModel& of = kSmall) {
  const auto load = [=](LoadOptions with) {
    with.precision = precision;
    return Model::load(of.folder(), with);
  };
  Task task{.name = name,
            .sources = kSources,
            .load = [=](const LoadOptions& with) { return generator(load(with), random_inputs(of), options); },
            .too_long = of.vocabulary == kVocabulary ? "source 1: 20000 tokens, expected at most" : ""};
  for (const std::optional<int> tokens : {std::optional<int>(), {1}, {3}, {32}}) {
    GenerateOptions drafts = options, own = options;
    drafts.num_assistant_tokens = own.num_assistant_tokens = tokens;
    own.draft_source = true;
    own.prompt_lookup_num_tokens = 4;
    task.drafted.push_back([=](const LoadOptions& with) {
      const Model model = load(with);
      const auto inputs = random_inputs(of);
      return generator(model, with_drafts(inputs, model.generate_inputs(inputs, options), of), drafts);
    });
    task.drafted.push_back([=](const LoadOptions& with) { return generator(load(with), random_inputs(of), own); });
  }
  for (const Precision draft : {Precision::int8, Precision::bfloat16, Precision::int4}) {
    if (draft == precision || !backend::can_multiply(backend::default_backend(), draft)) continue;
    task.drafted.push_back([=](LoadOptions with) {
      with.draft_precision = draft;
      return generator(load(with), random_inputs(of), options);
    });
  }
  task.drafted.push_back([=](LoadOptions with) {
    with.draft_model = of.vocabulary == kVocabulary ? other() : of.folder();
    return generator(load(with), random_inputs(of), options);
  });
  return task;
}

// The target of each source is the next source.
Task scoring(const std::string& name, Precision precision) {
  const auto load = [=](LoadOptions with) {
    with.precision = precision;
    const Model model = Model::load(small(), with);
    std::vector<TokenIds> ids;
    for (const GenerateInput& input : random_inputs(kSmall)) ids.push_back(std::get<TokenIds>(input.source));
    return Worker{model, {}, [=](std::span<const int> order, int batch_size) {
                    std::vector<TokenIds> sources, targets;
                    for (const int source : order) {
                      sources.push_back(ids[static_cast<std::size_t>(source)]);
                      targets.push_back(ids[static_cast<std::size_t>(source + 1) % kSources]);
                    }
                    std::vector<std::string> results;
                    for (const ScoreResult& result : model.score_ids(sources, targets, {.batch_size = batch_size})) {
                      results.push_back(bytes_of({.hypotheses = {{.token_scores = result.token_scores}}}));
                    }
                    return results;
                  }};
  };
  return {.name = name, .sources = kSources, .load = load};
}

const GenerateOptions kGreedy{.num_beams = 1},
    kBeams{.num_beams = 4, .num_return_sequences = 4, .length_penalty = 0.6f},
    kShort{.num_beams = 1, .max_new_tokens = 6}, kShortBeams{.num_beams = 3, .max_new_tokens = 6},
    kWindows{.num_beams = 1, .max_new_tokens = 20}, kWindowBeams{.num_beams = 3, .max_new_tokens = 20},
    kSampling{.num_beams = 1, .do_sample = true, .temperature = 0.9f, .top_k = 30, .top_p = 0.95f, .seed = 5};

// Without this, equal bytes would show little.
TEST(RandomMarian, ResultsHaveManyLengthsAndTokens) {
  const RandomMarian checkpoint;
  for (const GenerateOptions& options : {kGreedy, kBeams, kSampling}) {
    std::set<std::size_t> lengths;
    std::set<std::int32_t> tokens;
    std::size_t ended = 0;
    for (const auto& result : Model::load(checkpoint.folder()).generate_inputs(random_inputs(kSmall), options)) {
      const TokenIds& ids = result.hypotheses.front().token_ids;
      lengths.insert(ids.size());
      tokens.insert(ids.begin(), ids.end());
      ended += !ids.empty() && ids.back() == RandomMarian::kEnd;
    }
    EXPECT_GE(lengths.size(), 10u);
    EXPECT_GE(tokens.size(), 40u);
    EXPECT_GE(ended, kSources / 10u);
    EXPECT_LE(ended, kSources * 9u / 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Generate, Invariants,
                         testing::Values(generating("Greedy", kGreedy), generating("Short", kShort),
                                         generating("ShortBeams", kShortBeams), generating("Beams", kBeams),
                                         generating("Sampling", kSampling),
                                         generating("GreedyBfloat16", kGreedy, Precision::bfloat16),
                                         generating("BeamsBfloat16", kBeams, Precision::bfloat16),
                                         generating("GreedyInt8", kGreedy, Precision::int8),
                                         generating("BeamsInt8", kBeams, Precision::int8),
                                         generating("GreedyWide", kGreedy, Precision::float32, kWide),
                                         generating("GreedyWideBfloat16", kGreedy, Precision::bfloat16, kWide),
                                         generating("GreedyWideInt8", kGreedy, Precision::int8, kWide),
                                         generating("GreedyDecoder", kWindows, Precision::float32, kDecoder),
                                         generating("BeamsDecoderInt8", kWindowBeams, Precision::int8, kDecoder),
                                         generating("BeamsMerged", kWindowBeams, Precision::float32, kMerged),
                                         generating("GreedyMergedBfloat16", kWindows, Precision::bfloat16, kMerged)),
                         kName);
std::vector<Task> int4_tasks() {
  if (!backend::can_multiply(backend::default_backend(), Precision::int4)) return {};
  return {generating("GreedyInt4", kGreedy, Precision::int4),
          generating("BeamsDecoderInt4", kWindowBeams, Precision::int4, kDecoder)};
}

INSTANTIATE_TEST_SUITE_P(Int4, Invariants, testing::ValuesIn(int4_tasks()), kName);
INSTANTIATE_TEST_SUITE_P(Score, Invariants,
                         testing::Values(scoring("Float32", Precision::float32), scoring("Int8", Precision::int8)),
                         kName);

}  // namespace
}  // namespace encdec::invariants
