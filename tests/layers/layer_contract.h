#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"
#include "tests/support/naive_reference.h"

namespace encdec {

// Input shapes that a layer refuses, and its message.
struct RefusedInputs {
  std::vector<Shape> shapes;
  std::string message;
};

// What the rows of an input or output are.
enum class RowKind {
  rows,       // LayerCase::rows of each sequence
  source,     // LayerCase::source_rows of each sequence
  sequences,  // one row for each sequence
};

// A layer with weights and inputs, and its formula.
struct LayerCase {
  std::string name;  // for messages
  std::map<std::string, Tensor> weights = {};
  std::function<std::shared_ptr<const Layer>(const WeightScope& weights)> make = {};
  std::vector<Tensor> inputs = {};
  std::vector<int> rows = {};             // rows of each sequence, packed; empty if rows do not belong to sequences
  std::vector<int> pasts = {};            // earlier positions of each sequence; empty if there are none
  std::vector<int> source_rows = {};      // rows of each sequence's memory, packed; empty if there are none
  std::vector<RowKind> input_kinds = {};  // of the first inputs; those of further inputs are `rows`
  RowKind output_kind = RowKind::rows;
  bool in_steps = false;                 // whether a sequence may come in several runs, each with the next rows
  std::optional<int> stream_delay = {};  // set if a sequence may come as a stream: rows that the layer reads ahead
  // Returns the output of one sequence, or of rows that do not belong to sequences.
  std::function<reference::Matrix(const LayerCase& one)> expected = {};
  std::vector<RefusedInputs> refused = {};
};

// Properties that a layer must have; layer_contract.cc checks them. A layer's test instantiates it with
//   INSTANTIATE_TEST_SUITE_P(AddNorm, LayerContract, testing::Values(&cases));
// The cases are made when a test begins.
class LayerContract : public testing::TestWithParam<std::vector<LayerCase> (*)()> {};

}  // namespace encdec
