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

// Whether a tensor of the output's shape is added after the activation.
enum class Residual : std::uint8_t { none, add };

struct MatMulOptions {
  PackOptions pack = {};
  Activation activation = Activation::identity;  // applied after the bias
  Residual residual = Residual::none;            // added after the activation
};

// y = activation(x Wᵀ + b) (+ residual): x [R, K], y and residual [R, N], all float32.
//
// The outputs are split into slices, one per thread. The rows are split into blocks, which are
// multiplied one after another. Our own kernels also split inputs into chunks and rows into tiles.
//
// The constructor packs the weights once, in the precision and for the backend of `options.pack`. forward() converts
// the rows of x to that precision, and adds the residual while it writes the products. oneDNN needs a primitive per row
// count; the RunState keeps these primitives.
//
// A row's result is bitwise identical for any number of rows and threads. backend::note() reports where this does not
// hold with BackendChoice::onednn.
class MatMul {
 public:
  // Packs matrices [N_i, K] as one with N = sum of N_i, so that merged projections are one matmul.
  // `biases` is empty or holds one bias per matrix: [N_i], or an empty tensor for zeros.
  // Throws ShapeError if the sizes do not fit.
  MatMul(std::span<const WeightMatrix> weights, std::span<const Tensor> biases, const MatMulOptions& options = {});
  ~MatMul();
  MatMul(MatMul&&) noexcept;
  MatMul& operator=(MatMul&&) noexcept;

  // Returns a matmul for some outputs, at least one, with bitwise identical results.
  MatMul with_outputs(std::span<const std::int32_t> outputs) const;

  Dim input_width() const { return input_width_; }    // K
  Dim output_width() const { return output_width_; }  // N
  // Returns the size in bytes of packed weights and biases.
  std::size_t bytes() const;

  // Writes the K weights of one output, with the rounding errors of the packed precision.
  void copy_weights(Dim output, float* weights) const;

  // REQUIRES: `residual` is null if and only if options.residual is Residual::none.
  void forward(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const;

 private:
  struct Slice;
  MatMul() = default;
  const Slice& slice_of(Dim output) const;
  kernels::MatMulRows convert(const Tensor& input, RunState& state) const;

  Dim input_width_ = 0;
  Dim output_width_ = 0;
  Residual residual_ = Residual::none;
  std::vector<Slice> slices_;
};

}  // namespace encdec
