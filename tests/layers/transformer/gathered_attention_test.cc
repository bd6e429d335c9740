#include "encdec/layers/transformer/gathered_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/gather.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "tests/layers/attention_fixture.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using reference::Mask;
using reference::Matrix;

// Returns cases in which the first row of each sequence is gathered, and all rows.
std::vector<LayerCase> cases_of(const AttentionOptions& options, const std::vector<int>& rows) {
  LayerCase all = self_attention_case(make_attention<GatheredAttention>, options, rows, Mask::none);
  all.inputs.insert(all.inputs.begin(), all.inputs[0]);
  all.expected = [options](const LayerCase& one) {
    const Matrix x(one.inputs[1]);
    Matrix y = attend_to_itself(one.weights, x, options, Mask::none);
    if (options.disentangled_positions.span > 0) {  // as in MultiHeadAttention
      LayerRunner runner(std::make_shared<MultiHeadAttention>(make_scope(one.weights), options),
                         std::vector{one.inputs[1].shape()});
      y = Matrix(runner.run(std::array{one.inputs[1]}, packed(one.rows)));
      std::ranges::fill(y.errors, 2e-6);
    }
    const Matrix gathered = y.slice_rows(0, one.inputs[0].rows());
    return one.inputs.size() == 3 ? add(gathered, Matrix(one.inputs[2])) : gathered;
  };
  LayerCase first = all;
  std::vector<int> first_rows;
  for (const Sequence& sequence : packed(rows)) first_rows.push_back(sequence.first_row);
  for (std::size_t i = 0; i < first.inputs.size(); i += 2) first.inputs[i] = gather_rows(first.inputs[i], first_rows);
  first.input_kinds = {RowKind::sequences, RowKind::rows, RowKind::sequences};
  first.output_kind = RowKind::sequences;
  return {all, first};
}

std::vector<LayerCase> gathered_cases() {
  std::vector<AttentionOptions> all(6, options_for({24, 6}));
  all[0].relative_positions = {.buckets = 8, .max_distance = 6};
  all[1].rotary = {.base = 50};
  all[2].limits = {3, 3};
  all[3].key_value_heads = 2;
  all[4].disentangled_positions = {
      .span = 4, .max_distance = 9, .scores_keys = true, .scores_queries = true, .norm_epsilon = 1e-7f};
  all[5].rotary = {.base = 20};
  all[5].key_value_heads = 3;
  all[5].limits = {4, 4};
  for (const AttentionSizes& sizes : kAttentionSizes) {
    for (const Residual residual : {Residual::none, Residual::add}) all.push_back(options_for(sizes, residual));
  }
  std::vector<LayerCase> cases;
  for (const AttentionOptions& options : all) {
    for (const LayerCase& c : cases_of(options, {3, 1, 20})) cases.push_back(c);
  }
  cases.push_back(cases_of(options_for({10, 2}), {1})[0]);
  cases.back().refused = {{{{4, 10}}, "1 inputs, expected 2"},
                          {{{4, 9}, {5, 10}}, "gathered rows has shape [4, 9], expected [rows, 10]"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(GatheredAttention, LayerContract, testing::Values(&gathered_cases));

TEST(Gather, ReturnsTheRowsInOrder) {
  RandomTensors random(4);
  const Tensor x = random.uniform({6, 3});
  LayerRunner runner(std::make_shared<Gather>(), std::vector<Shape>{{kSourceRows, 3}, {kTargetRows}}, 1,
                     {DataType::float32, DataType::int32});
  const auto gather = [&](std::vector<std::int32_t> rows) {
    const Tensor numbers(rows.data(), DataType::int32, {static_cast<Dim>(rows.size())});
    return runner.run(std::vector{x, numbers}, {});
  };
  EXPECT_TRUE(same_bits(gather({4, 0, 4}), gather_rows(x, std::vector{4, 0, 4})));
  for (const int row : {-1, 6}) {
    EXPECT_EQ(message_of<InputError>([&] { gather({0, row}); }), "row " + std::to_string(row) + ", expected 0 to 5");
  }
}

}  // namespace
}  // namespace encdec
