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

// Options of a MatMul.
struct MatMulOptions {
  PackOptions pack = {};                         // number of slices, precision, where packed weights go
  Activation activation = Activation::identity;  // applied after the bias
  Residual residual = Residual::none;            // added after the activation
};

// y = activation(x Wᵀ + b) (+ residual): x [R, K], y and residual [R, N], all float32.
//
// Words: outputs are cut into slices, one for each thread; a slice's packed weights are panels of some outputs. Rows
// are cut into pieces, which oneDNN multiplies one after the other; our kernels cut inputs into chunks and rows into
// tiles.
//
// The constructor packs the weights once, in the precision and for the backend of `options.pack`: oneDNN, or our
// own kernels. forward() converts the rows of x to that precision. It adds the residual while it writes the products,
// without another pass. oneDNN primitives are created for the row counts that occur; the RunState keeps them.
//
// The result of a row is the same, bit by bit, for any number of rows and any number of threads. BackendChoice::onednn
// may be an exception; backend::note() says where.
class MatMul {
 public:
  // Packs several matrices [N_i, K] as one with N = sum of N_i, so that merged projections are one matmul. `biases` is
  // empty or holds one bias per weight: [N_i], or an empty tensor for zeros.
  // Throws ShapeError if the sizes do not fit.
  MatMul(std::span<const WeightMatrix> weights, std::span<const Tensor> biases, const MatMulOptions& options = {});
  ~MatMul();
  MatMul(MatMul&&) noexcept;
  MatMul& operator=(MatMul&&) noexcept;

  // Returns a product that computes only some outputs, in the order given, with the same bits.
  // REQUIRES: there is at least one.
  MatMul with_outputs(std::span<const std::int32_t> outputs) const;

  Dim input_width() const { return input_width_; }    // K
  Dim output_width() const { return output_width_; }  // N
  // Returns the size of the packed weights and the bias in bytes.
  std::size_t bytes() const;

  // Writes the K weights of one output to `weights`, with the rounding of the packed precision.
  void copy_weights(Dim output, float* weights) const;

  // REQUIRES: `residual` is null if and only if the options say Residual::none.
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
