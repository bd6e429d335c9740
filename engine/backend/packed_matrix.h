#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "encdec/engine/activation.h"
#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/backend/row_trial.h"
#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/engine/kernels/panel_order.h"
#include "encdec/engine/kernels/quantization.h"
#include "encdec/engine/precision.h"
#include "encdec/engine/tensor.h"

namespace encdec::backend {

// y[M, N] = activation(x[M, K] * W[K, N] + bias[N]) + residual[M, N].
struct MatMulSpec {
  int input_width = 0;   // K
  int output_width = 0;  // N
  Activation activation = Activation::identity;
  bool bias = false;
  bool residual = false;
  Precision precision = Precision::float32;

  friend auto operator<=>(const MatMulSpec& a, const MatMulSpec& b) = default;
};

// What multiplies: oneDNN's packed matmul for AVX-512, or our own kernels.
enum class Carrier : std::uint8_t {
  onednn,    // any precision; float32: some numbers of rows by kernels::multiply_panels, where that gives the same bits
  panels,    // kernels::multiply_panels: float32, and bfloat16 by float32 instructions
  integers,  // kernels::multiply_integers: int8
  tiles,     // kernels::multiply_tiles: bfloat16, int8
  dots,      // kernels::multiply_dots: int8
  matrices,  // kernels::multiply_matrices: bfloat16, int8
};

// What is best for the instructions that the CPU has.
Carrier best_carrier(Precision precision);

// That, or our own kernels where it is oneDNN and try_rows() finds that it disagrees with itself. However many rows and
// outputs there are, one carrier: no row's bits depend on its neighbours.
Carrier carrier_for(Precision precision, int input_width);

// Whether the CPU has instructions of its own for a precision.
bool multiplies_in(Precision precision);

// Writes rows [first, first + count) of a weight matrix [N, K], one output a row as checkpoints store them.
using WeightRows = std::function<void(Dim first, Dim count, float* rows)>;

// Rows of x in the matrix's input_form(), one after the other, and where those of y go.
struct MatMulRows {
  int count = 0;
  const std::byte* input = nullptr;
  const float* scales = nullptr;    // of the rows, as kernels::convert_row gave them
  const float* residual = nullptr;  // or null
  float* output = nullptr;
  std::ptrdiff_t stride = 0;  // between rows of residual and output
};

// A weight matrix and its bias in the precision and the order in which the kernels read them. Immutable, shared by all
// threads.
class PackedMatrix {
 public:
  // The weights as one piece of bytes: panels and, of int8, the outputs' scales and offsets. They depend on the
  // weights, the sizes, the precision and the CPU, and on nothing else. Asks for each row once, in ascending order.
  // Throws BackendError.
  static Tensor pack(const MatMulSpec& spec, const WeightRows& weight);
  // How many bytes pack() gives. Throws BackendError.
  static std::size_t packed_bytes(const MatMulSpec& spec);

  // `packed` as pack() gave it, aligned to Tensor::kAlignment. `bias` is [N], or null if spec.bias is false.
  PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias);
  PackedMatrix(const MatMulSpec& spec, const WeightRows& weight, const float* bias)
      : PackedMatrix(spec, pack(spec, weight), bias) {}

  const MatMulSpec& spec() const { return spec_; }
  Carrier carrier() const { return carrier_; }
  // Whether multiply() writes rows that lie apart: oneDNN does not.
  bool takes_stride() const { return carrier_ != Carrier::onednn || spec_.precision == Precision::int8; }
  // In what form multiply() takes the rows of the input, and the bytes from one to the next. What a row does not fill
  // is zero.
  kernels::InputForm input_form() const;
  std::size_t input_row_bytes() const;
  // Of the packed copy.
  std::size_t bytes() const;
  // Writes the weights of one output, rounded as they are: [K].
  void copy_row(int output, float* row) const;

  // On the calling thread alone. A row's result does not depend on how many there are. Throws BackendError.
  void multiply(const MatMulRows& rows, MatMulPrimitives& primitives) const;

  // Name of oneDNN's implementation, such as "brg:avx512_core", or of ours, such as "encdec:avx2".
  std::string implementation(int rows, MatMulPrimitives& primitives) const;

 private:
  kernels::MatMulEpilogue epilogue() const;
  kernels::OutputRows output_rows(const MatMulRows& rows) const;
  PrimitiveSpec primitive_spec() const;
  void run_primitive(const MatMulRows& rows, MatMulPrimitives& primitives) const;
  void run_one_row(const MatMulRows& row, MatMulPrimitives& primitives) const;
  bool is_for_panels(int rows) const;
  void run_panels(const MatMulRows& rows) const;

  MatMulSpec spec_;
  Carrier carrier_;
  kernels::PanelOrder order_;
  Tensor packed_;  // bytes, first of them the panels
  Tensor bias_;    // [N]
  // Parts of packed_, of int8; null where there are none.
  const float* scales_ = nullptr;  // [N]
  // [N], where inputs are shifted by 128: so much times the sum of the weights.
  const std::int32_t* offsets_ = nullptr;
  RowTrial trial_;  // of what oneDNN carries, but for int8: sums of integers are exact
};

}  // namespace encdec::backend
