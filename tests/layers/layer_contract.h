#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
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

// A layer with weights and inputs, and its formula.
struct LayerCase {
  std::string name;  // for messages
  std::map<std::string, Tensor> weights = {};
  std::function<std::shared_ptr<const Layer>(const WeightScope& weights)> make = {};
  std::vector<Tensor> inputs = {};  // each has the same rows
  std::vector<int> rows = {};       // rows of each sequence, packed; empty if rows do not belong to sequences
  std::function<reference::Matrix(const LayerCase& self)> expected = {};
  std::vector<RefusedInputs> refused = {};
};

// Properties that a layer must have; layer_contract.cc checks them. A layer's test instantiates it with
//   INSTANTIATE_TEST_SUITE_P(AddNorm, LayerContract, testing::Values(&cases));
// The cases are made when a test begins.
class LayerContract : public testing::TestWithParam<std::vector<LayerCase> (*)()> {};

}  // namespace encdec
