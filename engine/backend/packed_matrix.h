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

// Writes rows [first, first + count) of a weight matrix [N, K], one row per output. Writes to `factors` the factor from
// weights to stored int8 integers for each row, or 0 if the weights are not stored as int8.
using WeightRows = std::function<void(Dim first, Dim count, float* rows, float* factors)>;

// A weight matrix and its bias in the precision and order of a backend. Immutable and thread-safe.
class PackedMatrix {
 public:
  // Returns the size in bytes of packed weights, with scales and offsets for int8.
  static std::size_t packed_bytes(const MatMulSpec& spec);
  // Allocates packed weights, from `memory` if not null. Throws BackendError, as packed_bytes()
  // does, if there are too many inputs for exact integer accumulators.
  static Tensor reserve(const MatMulSpec& spec, WeightMemory* memory = nullptr);
  // Packs rows [first, last); several threads may pack different rows. Requests each row once, in
  // order. The bytes depend only on the weights, the sizes and the backend.
  // REQUIRES: `first` is a multiple of kWideColumns, and so is `last` unless it is the end.
  static void pack(const MatMulSpec& spec, Dim first, Dim last, const WeightRows& weight, Tensor& packed);

  // `bias` is [N], or null. REQUIRES: all rows of `packed` have been packed.
  PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias);
  // Like the constructor above, but with a known result of the backend's trial.
  PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias, const RowTrial& trial);

  struct Output {
    const PackedMatrix* matrix;
    int number;  // index among the outputs of the matrix
  };
  // Copies outputs of other matrices; results stay bitwise identical. REQUIRES: all matrices have
  // the inputs and the backend of `spec`, and there are spec.output_width outputs.
  PackedMatrix(const MatMulSpec& spec, std::span<const Output> outputs);

  // The members below are for backends.
  const MatMulSpec& spec() const { return spec_; }
  const kernels::PackedPanels& panels() const { return panels_; }
  const RowTrial& trial() const { return trial_; }

  // Returns the distance in bytes between neighbouring rows of the input.
  std::size_t input_row_bytes() const;
  // Returns the size in bytes of the packed weights and the bias.
  std::size_t bytes() const { return packed_.bytes() + (bias_.empty() ? 0 : bias_.bytes()); }
  // Writes the K weights of one output, with the rounding errors of the packed precision.
  void copy_row(int output, float* row) const;

  // Multiplies on the calling thread; see Backend::multiply().
  void multiply(const kernels::MatMulRows& rows, MatMulPrimitives& primitives) const {
    spec_.backend->multiply(*this, rows, primitives);
  }

 private:
  MatMulSpec spec_;
  Tensor packed_;  // the panels come first
  Tensor bias_;    // [N]
  kernels::PackedPanels panels_;
  RowTrial trial_;
};

}  // namespace encdec::backend
