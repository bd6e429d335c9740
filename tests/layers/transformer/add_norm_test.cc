#include "encdec/layers/transformer/add_norm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/layers/layer_contract.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

LayerCase norm_case(Dim rows, std::size_t inputs, const NormOptions& options) {
  RandomTensors random(1);
  LayerCase c{.name = fmt::format("{} x {}, {} inputs", rows, options.width, inputs),
              .weights = {{"weight", random.uniform({options.width}, 2.0)}},
              .make = [=](const WeightScope& weights) { return std::make_shared<AddNorm>(weights, options); },
              .expected =
                  [=](const LayerCase& self) {
                    const Matrix weight(self.weights.at("weight"));
                    Matrix x(self.inputs[0]);
                    if (inputs == 2) x = add(x, Matrix(self.inputs[1]));
                    return options.kind == NormKind::rms
                               ? rms_norm(x, weight, options.epsilon)
                               : layer_norm(x, weight, Matrix(self.weights.at("bias")), options.epsilon);
                  }};
  if (options.kind == NormKind::layer) c.weights["bias"] = random.uniform({options.width});
  while (c.inputs.size() < inputs) c.inputs.push_back(random.uniform({rows, options.width}));
  return c;
}

std::vector<LayerCase> norm_cases() {
  std::vector<LayerCase> cases;
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    for (const std::size_t inputs : {std::size_t{1}, std::size_t{2}}) {
      for (const Dim width : {1, 2, 7, 16, 33, 64, 300}) {
        for (const Dim rows : {1, 3, 100}) cases.push_back(norm_case(rows, inputs, {.kind = kind, .width = width}));
      }
    }
    cases.push_back(norm_case(300, 2, {.kind = kind, .width = 100, .epsilon = 0.1f}));
  }
  for (const float epsilon : {0.0f, 1e-12f, 3.0f}) cases.push_back(norm_case(4, 1, {.width = 40, .epsilon = epsilon}));
  for (const float row : {0.0f, 0.5f}) {  // equal numbers: their norm is the bias
    cases.push_back(norm_case(3, 1, {.width = 33}));
    std::fill_n(cases.back().inputs[0].row(1), 33, row);
  }
  cases.push_back(norm_case(2, 1, {.width = 100}));  // a large mean
  for (Dim i = 0; i < 200; ++i) cases.back().inputs[0].data<float>()[i] += 100.0f;
  cases.push_back(norm_case(2, 1, {.width = 6}));
  cases.back().refused = {
      {{}, "0 inputs, expected 1 or 2"},
      {{{2, 6}, {2, 6}, {2, 6}}, "3 inputs, expected 1 or 2"},
      {{{2, 5}}, "input has shape [2, 5], expected [rows, 6]"},
      {{{kSourceRows, 6}, {kTargetRows, 6}}, "inputs have shapes [S, 6] and [T, 6], expected equal ones"}};
  return cases;
}
INSTANTIATE_TEST_SUITE_P(AddNorm, LayerContract, testing::Values(&norm_cases));

}  // namespace
}  // namespace encdec
