#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/base/weight_memory.h"

namespace encdec::backend {

// y[M, N] = activation(x[M, K] * W[K, N] + bias[N]) (+ residual[M, N]).
struct MatMulSpec {
  int input_width = 0;   // K
  int output_width = 0;  // N
  const Backend* backend = nullptr;
  Activation activation = Activation::identity;
};

// Writes rows [first, first + count) of a weight matrix [N, K] to `rows`. A row has the weights of one output, as in
// checkpoints. Writes to `factors` what makes each row's weights the stored int8 integers, 0 for other weights.
using WeightRows = std::function<void(Dim first, Dim count, float* rows, float* factors)>;

// A weight matrix and its bias, in the precision and order that a backend reads. Immutable; all threads may share it.
class PackedMatrix {
 public:
  // Returns the size of packed weights in bytes: panels and, for int8, the scales and offsets of the outputs. Throws
  // BackendError if there are too many inputs for exact integer sums.
  static std::size_t packed_bytes(const MatMulSpec& spec);
  // Allocates memory for packed weights, from `memory` if it is not null. Throws BackendError like packed_bytes().
  static Tensor reserve(const MatMulSpec& spec, WeightMemory* memory = nullptr);
  // Packs rows [first, last). Several threads may each pack a part. Asks `weight` for each row once, in ascending
  // order. The bytes depend only on the weights, the sizes and the backend.
  // REQUIRES: `first` is a multiple of kWideColumns; `last` is such a multiple or the end of the matrix.
  static void pack(const MatMulSpec& spec, Dim first, Dim last, const WeightRows& weight, Tensor& packed);

  // `bias` is [N], or null for none.
  // REQUIRES: `packed` comes from reserve(), or has the same size and alignment, and all its rows have been packed.
  PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias);
  // The same for a known result of the backend's trial.
  PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias, const RowTrial& trial);

  // Copies outputs of other matrices, so that each gives the same bits as there. REQUIRES: all have the inputs and the
  // backend of `spec`, and there are spec.output_width of them.
  struct Output {
    const PackedMatrix* matrix;
    int number;  // among the outputs of the matrix
  };
  PackedMatrix(const MatMulSpec& spec, std::span<const Output> outputs);

  // The members below are for backends.
  const MatMulSpec& spec() const { return spec_; }
  const kernels::PackedPanels& panels() const { return panels_; }
  const RowTrial& trial() const { return trial_; }

  // Returns the distance in bytes from one row of the input to the next.
  std::size_t input_row_bytes() const;
  // Returns the size of the packed weights and the bias in bytes.
  std::size_t bytes() const { return packed_.bytes() + (bias_.empty() ? 0 : bias_.bytes()); }
  // Writes the K weights of one output to `row`, with the rounding of the packed precision.
  void copy_row(int output, float* row) const;

  // Calls Backend::multiply().
  void multiply(const kernels::MatMulRows& rows, MatMulPrimitives& primitives) const {
    spec_.backend->multiply(*this, rows, primitives);
  }

 private:
  MatMulSpec spec_;
  Tensor packed_;  // bytes, beginning with the panels
  Tensor bias_;    // [N]
  kernels::PackedPanels panels_;
  RowTrial trial_;  // result of the backend's trial, if it has one
};

}  // namespace encdec::backend
