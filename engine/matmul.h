#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/base/weights.h"

namespace encdec {

class RunState;

namespace kernels {
struct MatMulRows;
}

// Adds a tensor of the output's shape after the activation.
enum class Residual : std::uint8_t { none, add };

// How a MatMul is computed, and what happens to its outputs.
struct MatMulOptions {
  PackOptions pack = {};                         // threads and precision
  Activation activation = Activation::identity;  // after the bias
  Residual residual = Residual::none;            // after the activation
};

// y = activation(x Wᵀ + b) (+ residual): x [R, K], y and residual [R, N], float32. The door to the backends, oneDNN or
// our own kernels: weights are packed once, here, in the precision asked for; rows of x are converted to it; primitives
// are made for the row counts that occur and kept by the RunState. The residual is added in the same pass.
//
// Rows do not influence each other, and a row's result does not depend, bit by bit, on how many rows there are or how
// many threads run.
class MatMul {
 public:
  // Several matrices [N_i, K] are put together to one with N = sum of N_i, so that merged projections are one matmul.
  // `biases` is empty, or holds one per weight: [N_i], or an empty tensor for zeros.
  // Pages of `weights` are released as they have been copied. Throws ShapeError if the sizes do not fit.
  MatMul(std::span<const WeightMatrix> weights, std::span<const Tensor> biases, const MatMulOptions& options = {});
  ~MatMul();
  MatMul(MatMul&&) noexcept;
  MatMul& operator=(MatMul&&) noexcept;

  Dim input_width() const { return input_width_; }    // K
  Dim output_width() const { return output_width_; }  // N
  // Bytes of packed weights.
  std::size_t bytes() const;

  // The weights of one output, rounded as they are kept: writes [K].
  void copy_weights(Dim output, float* weights) const;

  // `residual` is given if and only if the matmul was made with one.
  void forward(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const;

 private:
  struct Slice;
  kernels::MatMulRows convert(const Tensor& input, RunState& state) const;

  Dim input_width_ = 0;
  Dim output_width_ = 0;
  Residual residual_ = Residual::none;
  std::vector<Slice> slices_;
};

}  // namespace encdec
