#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/graph.h"
#include "encdec/engine/matmul.h"
#include "encdec/engine/run_state.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {

using reference::Matrix;

// Numbers of rows just below, at and above the sizes of the blocks that a matmul is divided into.
inline constexpr std::array kRowCounts = {1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 257, 300};

struct MatMulWidths {
  int input;
  int output;
};
inline constexpr std::array kWidths = {
    MatMulWidths{1, 1},   MatMulWidths{1, 64},  MatMulWidths{5, 1},     MatMulWidths{7, 13},    MatMulWidths{16, 48},
    MatMulWidths{37, 67}, MatMulWidths{64, 64}, MatMulWidths{61, 192},  MatMulWidths{257, 131}, MatMulWidths{128, 320},
    MatMulWidths{300, 7}, MatMulWidths{33, 65}, MatMulWidths{256, 256}, MatMulWidths{512, 128}, MatMulWidths{127, 641}};

inline constexpr std::array kPrecisions = {Precision::float32, Precision::bfloat16, Precision::int8};

// Rounds to the precision by its definition: to a mantissa of 8 bits (bfloat16), or to integers from -127 to 127 times
// 1/127 of the row's largest magnitude (int8).
inline Tensor rounded(const Tensor& tensor, Precision precision) {
  Tensor result = Tensor::allocate(tensor.shape());
  copy_as_float(tensor, 0, tensor.elements(), result.data<float>());
  if (precision == Precision::float32) return result;
  for (std::int64_t row = 0; row < result.rows(); ++row) {
    float largest = 0.0f;
    for (Dim i = 0; i < result.width(); ++i) largest = std::max(largest, std::fabs(result.row(row)[i]));
    for (Dim i = 0; i < result.width(); ++i) {
      float& x = result.row(row)[i];
      if (precision == Precision::int8) {
        x = largest == 0.0f ? 0.0f : std::nearbyint(x * (127.0f / largest)) * (largest / 127.0f);
      } else {
        int exponent = 0;
        const float mantissa = std::frexp(x, &exponent);
        x = std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
      }
    }
  }
  return result;
}

// A matmul and its operands. It can be run on any range of its rows with any number of threads.
struct MatMulCase {
  std::vector<Tensor> weights;
  std::vector<Tensor> biases;
  Activation activation = Activation::identity;
  Residual residual_mode = Residual::none;
  Precision precision = Precision::float32;
  BackendChoice backend = backend::default_backend();
  Tensor input;
  Tensor residual;

  MatMul matmul(int threads, const std::shared_ptr<ThreadTeam>& team = nullptr) const {
    const std::vector<WeightMatrix> matrices(weights.begin(), weights.end());
    const PackOptions pack{.threads = threads, .precision = precision, .backend = backend, .team = team};
    return {matrices, biases, {pack, activation, residual_mode}};
  }

  // Returns false if oneDNN multiplies and the bits of a row depend on the other rows.
  bool rows_are_independent() const {
    return backend::rows_are_independent(backend, precision, static_cast<int>(input.width()),
                                         static_cast<int>(weights.front().rows()));
  }

  Tensor run(const MatMul& matmul, RunState& state, std::int64_t first, std::int64_t count) const {
    Tensor output = Tensor::allocate({count, matmul.output_width()});
    std::fill_n(output.data<float>(), output.elements(), 12345.0f);
    const Tensor added = residual.empty() ? Tensor() : residual.slice(first, count);
    matmul.forward(input.slice(first, count), residual.empty() ? nullptr : &added, output, state);
    return output;
  }

  Tensor run(int threads) const {
    RunState state(Graph("test"), std::make_shared<ThreadTeam>(threads));
    return run(matmul(threads), state, 0, input.rows());
  }

  Matrix expected() const {
    std::vector<Matrix> rows;
    for (const Tensor& weight : weights) rows.emplace_back(rounded(weight, precision));
    Matrix bias(1, 0);
    for (std::size_t i = 0; i < biases.size(); ++i) {
      bias = beside(bias, biases[i].empty() ? Matrix(1, weights[i].shape()[0]) : Matrix(biases[i]));
    }
    Matrix y = linear(Matrix(rounded(input, precision)), reference::stack(rows), biases.empty() ? nullptr : &bias);
    y = reference::activate(activation, y);
    return residual.empty() ? y : add(y, Matrix(residual));
  }
};

using MakeTensor = std::function<Tensor(const Shape&)>;

inline MatMulCase make_case(const MakeTensor& make, MatMulWidths widths, int rows, bool bias, bool residual) {
  MatMulCase result;
  result.input = make({rows, widths.input});
  result.weights = {make({widths.output, widths.input})};
  if (bias) result.biases = {make({widths.output})};
  if (residual) {
    result.residual_mode = Residual::add;
    result.residual = make({rows, widths.output});
  }
  return result;
}

inline MatMulCase uniform_case(std::uint64_t seed, MatMulWidths widths, int rows, bool bias, bool residual) {
  RandomTensors random(seed);
  return make_case([&](const Shape& shape) { return random.uniform(shape); }, widths, rows, bias, residual);
}

inline std::string describe(const MatMulCase& c) {
  return fmt::format("{}, x {}, N {}, {}{}{}", to_string(c.precision), to_string(c.input.shape()),
                     c.weights.front().shape()[0], to_string(c.activation), c.biases.empty() ? "" : ", bias",
                     c.residual.empty() ? "" : ", residual");
}

}  // namespace encdec
