#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/backend/onednn_matmul.h"
#include "encdec/engine/base/backend_choice.h"
#include "encdec/engine/base/precision.h"
#include "encdec/engine/base/shape.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/quantization.h"

namespace encdec::backend {

// Returns the size of the next block if `remaining` rows are split into equal blocks of at most 128
// rows, whose inputs fit the L2 cache.
int equal_blocks(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width);

// An implementation of matrix multiplication for one precision: oneDNN, or one of our own kernels.
struct Backend {
  std::string_view name;  // name of our kernel, or of oneDNN's implementation
  Precision precision = Precision::float32;
  // Returns true if this CPU has the instructions of the backend. Null for oneDNN, which runs on every CPU.
  bool (*can_run)() = nullptr;
  // Type and order of packed weights. If the precision is reduced but the type is float32, weights and inputs are
  // rounded to the precision and multiplied as float32. If the precision is float32 but the type has 16 bits, the
  // backend is for weights that are exact in 16 bits; results are bitwise identical to results with float32 weights.
  DataType stored = DataType::float32;
  kernels::PanelOrder panel_order = {};
  // Data type of the input's rows, which are padded with zeros to a multiple of `input_unit` bytes.
  kernels::InputForm input = kernels::InputForm::float32;
  std::size_t input_unit = 1;
  // Runs on the calling thread alone. Throws BackendError.
  void (*multiply)(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives) = nullptr;
  // Returns the number of rows to multiply next. `output_width` is the width of the whole product.
  int (*block_rows)(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width) = equal_blocks;
  // Tests whether a row's result depends on the number of rows. Null if the result never depends on it.
  RowTrial (*trial)(const Backend& backend, int input_width, int output_width) = nullptr;
};

// Returns the choice in ENCDEC_BACKEND, or automatic if it is unset. Throws ConfigError for an unknown name.
BackendChoice default_backend();

// Returns false if the precision is int4 and oneDNN would have to multiply.
bool can_multiply(BackendChoice choice, Precision precision);

// Returns the backend that a choice selects on this CPU. Throws ConfigError if !can_multiply(), or if the choice is
// `encdec` and this build does not contain our own kernels.
const Backend& backend_for(BackendChoice choice, Precision precision);

// Returns the backends with 16-bit weights whose results are bitwise identical to the results of backend_for(), for
// weights that are exact in 16 bits.
std::vector<const Backend*> smaller_backends(BackendChoice choice, Precision precision);

// Returns false if a row's result depends on the other rows, which only happens with oneDNN.
bool rows_are_independent(BackendChoice choice, Precision precision, int input_width, int output_width = kManyOutputs);

// Returns false if the backend rounds to the precision, but multiplies as float32.
bool multiplies_in(BackendChoice choice, Precision precision);

// Returns a description of the backend for users, such as "onednn (brg:avx512_core)", or "" if !can_multiply(). It has
// a remark if, for one of the input widths, a row's result depends on the other rows.
std::string description(BackendChoice choice, Precision precision, std::span<const Dim> input_widths);

// Returns a line for users if this CPU has no instructions for the precision, or if, with a matrix that has been
// packed, a row's result depends on the other rows. Otherwise returns an empty string.
std::string note(BackendChoice choice, Precision precision);

}  // namespace encdec::backend
