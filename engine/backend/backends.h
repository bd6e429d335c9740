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

// Returns the number of rows in the next piece, if `remaining` rows are cut into equal pieces of at most 128 rows. The
// input of such a piece stays in the second-level cache.
int equal_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width);

// A way to multiply matrices in one precision: oneDNN, or one of our own kernels.
struct Backend {
  std::string_view name;  // our kernel's name, or the name of oneDNN's implementation
  Precision precision = Precision::float32;
  // Returns true if this CPU has the instructions. Null for oneDNN, which runs on every CPU.
  bool (*can_run)() = nullptr;
  // Type and order of the packed weights. float32 for another precision means that weights and inputs are rounded to
  // the precision and multiplied as float32. 16 bits for precision float32 mean that the backend multiplies only
  // weights that have this type's values, and gives the same bits as with float32 weights.
  DataType stored = DataType::float32;
  kernels::PanelOrder panel_order = {};
  // Form of the input's rows, and the number of bytes that are read at once. Each row is padded with zeros to a
  // multiple of these bytes.
  kernels::InputForm input = kernels::InputForm::float32;
  std::size_t input_unit = 1;
  // Multiplies on the calling thread alone. Throws BackendError.
  void (*multiply)(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives) = nullptr;
  // Returns how many of the remaining rows to multiply at once. `matrix` is one slice of a product that has
  // `output_width` outputs in all.
  int (*piece_rows)(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width) = equal_pieces;
  // Tries whether a row's result depends on the number of rows. Null for our own kernels: it never does.
  RowTrial (*trial)(const Backend& backend, int input_width, int output_width) = nullptr;
};

// Returns the choice that ENCDEC_BACKEND names; automatic if it is not set. Throws ConfigError for another name.
BackendChoice default_backend();

// Returns false for int4 if oneDNN multiplies.
bool can_multiply(BackendChoice choice, Precision precision);

// Returns the backend of a choice on this CPU. Unless it is oneDNN, no row's bits depend on the other rows.
// Throws ConfigError if !can_multiply(), or if the choice is `encdec` and this build has no kernels.
const Backend& backend_for(BackendChoice choice, Precision precision);

// Returns the backends that give the same bits as backend_for() with fewer bytes of weights, for weights that have the
// values of a smaller type.
std::vector<const Backend*> smaller_backends(BackendChoice choice, Precision precision);

// Returns false if oneDNN multiplies and the bits of a row depend on the other rows.
bool rows_agree(BackendChoice choice, Precision precision, int input_width, int output_width = kManyOutputs);

// Returns false if the backend rounds weights and inputs to the precision but multiplies them as float32.
bool multiplies_in(BackendChoice choice, Precision precision);

// Returns what multiplies matrices with these numbers of inputs, for users: "onednn (brg:avx512_core)"; empty if
// !can_multiply(). Says it if the bits of a row depend on the other rows.
std::string description(BackendChoice choice, Precision precision, std::span<const Dim> input_widths);

// Returns a line for users about matrices that were packed in this process; empty if there is nothing to say. It says
// that this CPU has no instructions for the precision, or that with oneDNN the bits of a row depend on the other rows.
std::string note(BackendChoice choice, Precision precision);

}  // namespace encdec::backend
