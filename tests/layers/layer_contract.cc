#include "tests/layers/layer_contract.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "encdec/engine/base/error.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

RowKind kind_of(const LayerCase& c, std::size_t input) {
  return input < c.input_kinds.size() ? c.input_kinds[input] : RowKind::rows;
}

// Returns the shape of an input with a symbol for the number of its rows.
Shape with_any_rows(const Tensor& input, RowKind kind) {
  std::vector<Dim> dims(input.shape().dims().begin(), input.shape().dims().end());
  dims.front() = kind == RowKind::rows ? kTargetRows : kind == RowKind::source ? kSourceRows : kBatch;
  return Shape(std::span<const Dim>(dims));
}

std::shared_ptr<const Layer> layer_of(const LayerCase& c, int threads = 1) {
  return c.make(make_scope(c.weights, {.threads = threads}));
}

LayerRunner runner_of(const LayerCase& c, int threads = 1) {
  std::vector<Shape> shapes;
  std::vector<DataType> types;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    shapes.push_back(with_any_rows(c.inputs[i], kind_of(c, i)));
    types.push_back(c.inputs[i].type());
  }
  return {layer_of(c, threads), shapes, threads, types};
}

Tensor run(LayerRunner& runner, const LayerCase& c) {
  std::vector<Sequence> sequences = packed(c.rows, c.pasts, c.source_rows);
  runner.open_slots(sequences);
  Tensor output = runner.run(c.inputs, sequences);
  for (const Sequence& sequence : sequences) runner.state().cache_index.close(sequence.slot);
  return output;
}
Tensor run(const LayerCase& c, int threads) {
  LayerRunner runner = runner_of(c, threads);
  return run(runner, c);
}

// A sequence of a case; without sequences, some rows.
struct Part {
  Sequence rows;
  Dim number;

  // Returns what this part has of an input or of the output.
  Tensor of(const Tensor& tensor, RowKind kind) const {
    if (kind == RowKind::rows) return tensor.slice(rows.first_row, rows.rows);
    if (kind == RowKind::source) return tensor.slice(rows.first_source_row, rows.source_rows);
    return tensor.slice(number, 1);
  }

  // Returns the case with this part alone.
  LayerCase alone(const LayerCase& c) const {
    LayerCase one = c;
    if (!c.rows.empty()) one.rows = {rows.rows};
    if (!c.pasts.empty()) one.pasts = {rows.past};
    if (!c.source_rows.empty()) one.source_rows = {rows.source_rows};
    for (std::size_t i = 0; i < c.inputs.size(); ++i) one.inputs[i] = of(c.inputs[i], kind_of(c, i));
    return one;
  }
};

int row_count(const LayerCase& c) {
  return static_cast<int>(c.inputs.front().shape()[0]);
}

// Returns the sequences; without sequences, each row.
std::vector<Part> parts_of(const LayerCase& c) {
  std::vector<Part> parts;
  for (const Sequence& sequence : packed(c.rows, c.pasts, c.source_rows)) {
    parts.push_back({sequence, static_cast<Dim>(parts.size())});
  }
  for (int row = 0; c.rows.empty() && row < row_count(c); ++row) parts.push_back({{.first_row = row, .rows = 1}, row});
  return parts;
}

reference::Matrix formula(const LayerCase& c) {
  if (c.rows.empty()) return c.expected(c);
  std::vector<reference::Matrix> outputs;
  for (const Part& part : parts_of(c)) outputs.push_back(c.expected(part.alone(c)));
  return reference::stack(outputs);
}

TEST_P(LayerContract, FollowsTheFormula) {
  for (const LayerCase& c : GetParam()()) {
    if (!c.expected) continue;
    for (const int threads : {1, 2}) EXPECT_TRUE(is_close_to(formula(c), run(c, threads))) << c.name;
  }
}

TEST_P(LayerContract, TakesWeightsOfHalfPrecision) {
  for (LayerCase& c : GetParam()()) {
    if (!c.expected || c.weights.empty()) continue;
    for (const DataType type : {DataType::float16, DataType::bfloat16}) {
      LayerCase half = c;
      for (auto& [name, weight] : half.weights) weight = stored_as(weight, type);
      EXPECT_TRUE(is_close_to(formula(half), run(half, 1))) << c.name << ", " << to_string(type);
    }
  }
}

TEST_P(LayerContract, TheNumberOfThreadsDoesNotChangeABit) {
  for (const LayerCase& c : GetParam()()) {
    const Tensor alone = run(c, 1);
    for (const int threads : {2, 3, 4}) EXPECT_TRUE(same_bits(alone, run(c, threads))) << c.name;
  }
}

// The neighbours of a row, or of a sequence of rows.
TEST_P(LayerContract, NeighboursDoNotChangeABit) {
  RandomTensors random(1);
  for (const LayerCase& c : GetParam()()) {
    LayerRunner runner = runner_of(c, 2);
    const Tensor all = run(runner, c);
    std::vector<Part> parts = c.rows.empty() ? std::vector<Part>() : parts_of(c);
    for (int i = 0; c.rows.empty() && i < 8; ++i) {
      const int first = random.below(row_count(c));
      parts.push_back({{.first_row = first, .rows = 1 + random.below(row_count(c) - first)}, i});
    }
    for (const Part& part : parts) {
      EXPECT_TRUE(same_bits(part.of(all, c.output_kind), run(runner, part.alone(c))))
          << c.name << ", rows from " << part.rows.first_row;
    }
  }
}

TEST_P(LayerContract, ANaNStaysInItsRowOrSequence) {
  std::set<std::size_t> inputs, shown;  // by number; `shown`: a NaN in the input changes the output
  for (LayerCase& c : GetParam()()) {
    LayerRunner runner = runner_of(c, 2);
    const Tensor clean = run(runner, c);
    const std::vector<Part> parts = parts_of(c);
    const Part& poisoned = parts[parts.size() / 2];
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      const Tensor input = c.inputs[i];
      const RowKind kind = kind_of(c, i);
      if (input.type() != DataType::float32 || poisoned.of(input, kind).elements() == 0) continue;
      inputs.insert(i);
      c.inputs[i] = copy_of(input);
      poisoned.of(c.inputs[i], kind).data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
      const Tensor output = run(runner, c);
      for (const Part& part : parts) {
        const bool is_same = same_bits(part.of(clean, c.output_kind), part.of(output, c.output_kind));
        if (&part == &poisoned && !is_same) shown.insert(i);
        EXPECT_TRUE(is_same || &part == &poisoned) << c.name << ", input " << i << ", row " << part.rows.first_row;
      }
      c.inputs[i] = input;
    }
  }
  EXPECT_EQ(shown, inputs) << "in no case does the NaN of another input show";
}

// A step has some rows of each sequence, or none. Before each step the sequence is forked, and other rows are read and
// dropped.
TEST_P(LayerContract, StepsGiveTheBitsOfAWholeSequence) {
  RandomTensors random(2);
  for (const LayerCase& c : GetParam()()) {
    for (const int most : {1, 5}) {
      if (!c.in_steps) continue;
      LayerRunner runner = runner_of(c, 2);
      const Tensor whole = run(runner, c);
      CacheIndex& index = runner.state().cache_index;
      std::vector<Sequence> sequences = packed(c.rows, c.pasts, c.source_rows);  // of the rows that are left
      for (Sequence& sequence : sequences) index.append(sequence.slot = index.open(), sequence.past);
      const auto run_rows = [&](const std::vector<int>& rows, const std::vector<Sequence>& step) {
        std::vector<Tensor> inputs = c.inputs;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          if (kind_of(c, i) == RowKind::rows) inputs[i] = gather_rows(inputs[i], rows);
        }
        return runner.run(inputs, step);
      };
      while (std::ranges::any_of(sequences, [](const Sequence& sequence) { return sequence.rows > 0; })) {
        std::vector<Sequence> step;
        std::vector<int> rows, others;
        for (Sequence& sequence : sequences) {
          const int count = most == 1 ? std::min(sequence.rows, 1) : std::min(sequence.rows, random.below(most + 1));
          if (count == 0) continue;
          const int fork = index.fork(sequence.slot);
          index.close(sequence.slot);
          index.append(sequence.slot = fork, count);
          step.push_back(sequence);
          step.back().first_row = static_cast<int>(rows.size());
          step.back().rows = count;
          for (int row = sequence.first_row; row < sequence.first_row + count; ++row) {
            rows.push_back(row);
            others.push_back(row_count(c) - 1 - row);
          }
          sequence.first_row += count, sequence.past += count, sequence.rows -= count;
        }
        if (step.empty()) continue;
        run_rows(others, step);
        for (const Sequence& sequence : step) {
          index.shorten(sequence.slot, sequence.past);
          index.append(sequence.slot, sequence.rows);
        }
        ASSERT_TRUE(same_bits(gather_rows(whole, rows), run_rows(rows, step))) << c.name << ", row " << rows[0];
      }
    }
  }
}

TEST_P(LayerContract, PiecesOfAStreamGiveTheBitsOfAWholeSequence) {
  for (const LayerCase& c : GetParam()()) {
    if (!c.stream_delay) continue;
    const int delay = *c.stream_delay, end = row_count(c) - delay;
    LayerCase whole = Part{{.rows = end}, 0}.alone(c);
    whole.rows = {end};
    const Tensor expected = run(whole, 1);
    LayerRunner runner = runner_of(c, 2);
    for (int first = 0, rows = 1; first < row_count(c); first += rows, rows = rows % 13 + 3) {
      rows = std::min(rows, row_count(c) - first);
      LayerCase piece = Part{{.first_row = first, .rows = rows}, 0}.alone(c);
      runner.state().stream = {.first = first, .end = first + rows > end ? end : 1000};
      const Tensor output = runner.run(piece.inputs, packed(std::vector{rows}));
      EXPECT_EQ(runner.state().stream->first, first - delay) << c.name;
      const int skipped = std::max(0, delay - first);
      if (skipped >= rows) continue;
      EXPECT_TRUE(
          same_bits(expected.slice(first - delay + skipped, rows - skipped), output.slice(skipped, rows - skipped)))
          << c.name << ", rows from " << first;
    }
  }
}

TEST_P(LayerContract, SequencesMustCoverAllRows) {
  for (LayerCase& c : GetParam()()) {
    if (c.rows.empty()) continue;
    --c.rows.back();
    EXPECT_THAT(message_of<InputError>([&] { run(c, 1); }), testing::StartsWith("RunState::sequences: ")) << c.name;
  }
}

TEST_P(LayerContract, EveryWeightIsChecked) {
  for (const LayerCase& c : GetParam()()) expect_every_weight_is_checked(c.weights, c.make);
}

TEST_P(LayerContract, RefusesInputsThatDoNotFit) {
  for (const LayerCase& c : GetParam()()) {
    for (const auto& [shapes, message] : c.refused) EXPECT_EQ(shape_error(layer_of(c), shapes), message) << c.name;
  }
}

}  // namespace
}  // namespace encdec
