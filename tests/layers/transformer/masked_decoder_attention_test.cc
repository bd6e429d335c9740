#include "encdec/layers/transformer/masked_decoder_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tests/layers/attention_fixture.h"
#include "tests/support/comparison.h"

namespace encdec {
namespace {

using reference::Mask;
using reference::Matrix;

struct Fixture {
  AttentionOptions options;
  std::map<std::string, Tensor> weights;
  RandomTensors random;

  Fixture(std::uint64_t seed, const AttentionSizes& sizes) : options(options_for(sizes)), random(seed) {
    weights = attention_weights(random, options);
  }

  LayerRunner runner(int threads = 1) const {
    return {std::make_shared<MaskedDecoderAttention>(make_scope(weights, {.threads = threads}), options),
            std::vector<Shape>{{kTargetRows, options.model_dim}}, threads};
  }

  // Runs all rows of each sequence at once, without a past.
  Tensor run_at_once(const std::vector<Tensor>& inputs, std::span<const int> rows, int threads = 1) const {
    LayerRunner run = runner(threads);
    std::vector<Sequence> sequences = packed(rows);
    run.open_slots(sequences);
    return run.run(inputs, sequences);
  }

  Tensor input(Dim rows) { return random.uniform({rows, options.model_dim}); }

  Matrix expected(const Tensor& sequence) const {
    return attend(weights, Matrix(sequence), Matrix(sequence), options.heads, {.mask = Mask::causal});
  }
};

std::string describe(const AttentionSizes& sizes) {
  return "D " + std::to_string(sizes.model_dim) + ", heads " + std::to_string(sizes.heads);
}

std::vector<LayerCase> masked_cases() {
  return self_attention_cases(
      [](const WeightScope& weights, const AttentionOptions& options) {
        return std::make_shared<MaskedDecoderAttention>(weights, options);
      },
      {.mask = Mask::causal});
}
INSTANTIATE_TEST_SUITE_P(MaskedDecoderAttention, LayerContract, testing::Values(&masked_cases));

TEST(MaskedDecoderAttention, RowsSeeThePastOfTheirSequence) {
  for (const AttentionSizes& sizes : {AttentionSizes{6, 3}, AttentionSizes{20, 3, 5}, AttentionSizes{64, 2}}) {
    Fixture fixture(2, sizes);
    const std::array lengths = {30, 9, 17};
    std::vector<Tensor> inputs;
    std::vector<Matrix> expected;
    for (const int length : lengths) {
      inputs.push_back(fixture.input(length));
      expected.push_back(fixture.expected(inputs.back()));
    }
    LayerRunner runner = fixture.runner();
    std::array<int, 3> slots{}, done{};
    for (int& slot : slots) slot = runner.state().cache_index.open();
    while (done != lengths) {
      // A step takes some rows of each sequence, sometimes none.
      std::vector<Sequence> sequences;
      std::vector<Matrix> expected_rows;
      std::vector<Tensor> pieces;
      int first_row = 0;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        const int rows = std::min(fixture.random.below(6), lengths[i] - done[i]);
        if (rows == 0) continue;
        runner.state().cache_index.append(slots[i], rows);
        sequences.push_back({.first_row = first_row, .rows = rows, .past = done[i], .slot = slots[i]});
        pieces.push_back(inputs[i].slice(done[i], rows));
        expected_rows.push_back(expected[i].slice_rows(done[i], rows));
        first_row += rows;
        done[i] += rows;
      }
      if (sequences.empty()) continue;
      Tensor input = Tensor::allocate({first_row, fixture.options.model_dim});
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        std::copy_n(pieces[i].data<float>(), pieces[i].elements(), input.row(sequences[i].first_row));
      }
      ASSERT_TRUE(is_close_to(reference::stack(expected_rows), runner.run(std::array{input}, sequences)))
          << describe(sizes);
    }
  }
}

TEST(MaskedDecoderAttention, FutureTokensDoNotChangeThePast) {
  for (const AttentionSizes& sizes : {AttentionSizes{15, 5}, AttentionSizes{64, 2}}) {
    Fixture fixture(3, sizes);
    const Tensor input = fixture.input(40);
    const Tensor before = fixture.run_at_once({input}, std::array{40});
    for (const int change : {1, 17, 39}) {
      Tensor changed = copy_of(input);
      const Tensor others = fixture.input(40);
      std::copy_n(others.row(change), (40 - change) * sizes.model_dim, changed.row(change));
      const Tensor after = fixture.run_at_once({changed}, std::array{40});
      EXPECT_TRUE(same_bits(before.slice(0, change), after.slice(0, change))) << describe(sizes);
      EXPECT_FALSE(same_bits(before.slice(change, 1), after.slice(change, 1))) << "the change must show where it is";
    }
  }
}

TEST(MaskedDecoderAttention, TokenByTokenEqualsAllAtOnceBitByBit) {
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const int threads : {1, 2}) {
      Fixture fixture(4, sizes);
      const std::array rows = {37, 5, 20};
      const Tensor input = fixture.input(62);
      const Tensor at_once = fixture.run_at_once({input}, rows, threads);

      // Each step decodes one token of each unfinished sequence.
      LayerRunner runner = fixture.runner(threads);
      const std::vector<Sequence> whole = packed(rows);
      std::vector<int> slots;
      for (std::size_t i = 0; i < rows.size(); ++i) slots.push_back(runner.state().cache_index.open());
      for (int step = 0; step < 37; ++step) {
        std::vector<Sequence> sequences;
        std::vector<int> input_rows;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          if (step >= rows[i]) continue;
          runner.state().cache_index.append(slots[i], 1);
          sequences.push_back(
              {.first_row = static_cast<int>(input_rows.size()), .rows = 1, .past = step, .slot = slots[i]});
          input_rows.push_back(whole[i].first_row + step);
        }
        const Tensor output = runner.run(std::array{gather_rows(input, input_rows)}, sequences);
        ASSERT_TRUE(same_bits(gather_rows(at_once, input_rows), output)) << describe(sizes) << ", step " << step;
      }
    }
  }
}

TEST(MaskedDecoderAttention, RowsOfAClosedSequenceInTheCacheAreNotSeen) {
  Fixture fixture(6, {20, 4});
  const Tensor input = fixture.input(21);
  const Tensor fresh = fixture.run_at_once({input}, std::array{21});
  LayerRunner runner = fixture.runner();
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::vector<Sequence> others = packed(std::array{30, 17});
    runner.open_slots(others);
    runner.run(std::array{fixture.input(47)}, others);
    runner.state().cache_index.close(others[0].slot);  // the other stays open: free pages are out of order
    std::vector<Sequence> sequences = packed(std::array{21});
    runner.open_slots(sequences);
    EXPECT_TRUE(same_bits(fresh, runner.run(std::array{input}, sequences)));
    runner.state().cache_index.close(sequences[0].slot);
  }
}

}  // namespace
}  // namespace encdec
