#include "encdec/layers/transformer/merged_attention.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/layers/attention_fixture.h"

namespace encdec {
namespace {

using reference::Matrix;

// The source's keys come before the target's: all queries see them.
LayerCase merged_case(const AttentionOptions& options, std::vector<int> target_rows, std::vector<int> source_rows) {
  RandomTensors random(1);
  const std::map<std::string, Tensor> weights = attention_weights(random, options);
  LayerCase c = source_reader_case<MergedAttention>(random, options, std::move(target_rows), std::move(source_rows));
  c.weights = weights;
  c.expected = [options](const LayerCase& one) {
    const Dim width = options.head_width(), rows = one.source_rows[0], shared = options.heads_per_key();
    const auto projected = [&](const std::string& name) {
      return project_heads(one.weights, name, Matrix(one.inputs[0]), options);
    };
    const Matrix query = projected("query"), key = projected("key"), value = projected("value");
    const Matrix key_values = heads_of(one.inputs[1], options);
    Matrix attended(query.rows, 0);
    for (int head = 0; head < options.heads; ++head) {
      const auto with_own = [&](int part, const Matrix& own) {
        const Matrix parts[] = {key_values.slice_rows((part + head) / shared * rows, rows),
                                own.slice_columns(head / shared * width, width)};
        return reference::stack(parts);
      };
      attended = beside(attended, attention(query.slice_columns(head * width, width), with_own(0, key),
                                            with_own(options.heads, value), reference::Mask::causal));
    }
    return project(one.weights, "output", attended);
  };
  return c;
}

std::vector<LayerCase> merged_cases() {
  AttentionOptions options = options_for({24, 4});
  options.key_value_heads = 2;
  options.rotary = {.base = 100};
  options.head_norm = NormOptions{.kind = NormKind::rms};
  std::vector<LayerCase> cases;
  for (const auto& [targets, sources] :
       {std::pair<std::vector<int>, std::vector<int>>{{1}, {1}}, {{40}, {33}}, {{2, 3, 1}, {4, 0, 30}}}) {
    cases.push_back(merged_case(options, targets, sources));
  }
  cases.back().refused = {
      {{{kTargetRows, 24}}, "expected a target and a key/value input"},
      {{{kTargetRows, 24}, {kSourceRows, 48}}, "key/value input has shape [S, 48], expected [rows, 24]"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(MergedAttention, LayerContract, testing::Values(&merged_cases));

}  // namespace
}  // namespace encdec
