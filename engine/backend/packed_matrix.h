#pragma once

#include <cstddef>
#include <functional>

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

// Writes rows [first, first + count) of a weight matrix [N, K], one output a row as checkpoints store them.
using WeightRows = std::function<void(Dim first, Dim count, float* rows)>;

// A weight matrix and its bias in the precision and the order in which a backend reads them. Immutable, shared by all
// threads.
class PackedMatrix {
 public:
  // How many bytes packed weights are: panels and, of int8, the outputs' scales and offsets. Throws BackendError for
  // more inputs than sums of integers are exact for.
  static std::size_t packed_bytes(const MatMulSpec& spec);
  // Memory for them, in `memory` or, without it, alone. Throws BackendError likewise.
  static Tensor reserve(const MatMulSpec& spec, WeightMemory* memory = nullptr);
  // Packs rows [first, last), from the beginning of a panel of kWideColumns to the end of one or of the matrix: threads
  // may pack a part each. The bytes depend on the weights, the sizes and the backend, and on nothing else. Asks for
  // each row once, in ascending order.
  static void pack(const MatMulSpec& spec, Dim first, Dim last, const WeightRows& weight, Tensor& packed);

  // `packed` is what was reserved, with all rows, aligned to Tensor::kAlignment. `bias` is [N], or null for none.
  PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias);

  // For backends.
  const MatMulSpec& spec() const { return spec_; }
  const kernels::PackedPanels& panels() const { return panels_; }
  const RowTrial& trial() const { return trial_; }

  // Bytes from one row of the input to the next.
  std::size_t input_row_bytes() const;
  // Memory of the packed copy.
  std::size_t bytes() const { return packed_.bytes() + (bias_.empty() ? 0 : bias_.bytes()); }
  // Writes the weights of one output, rounded as they are: [K].
  void copy_row(int output, float* row) const;

  // See Backend::multiply.
  void multiply(const kernels::MatMulRows& rows, MatMulPrimitives& primitives) const {
    spec_.backend->multiply(*this, rows, primitives);
  }

 private:
  MatMulSpec spec_;
  Tensor packed_;  // bytes, first of them the panels
  Tensor bias_;    // [N]
  kernels::PackedPanels panels_;
  RowTrial trial_;  // of what backends have to try
};

}  // namespace encdec::backend
