#include "encdec/engine/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "encdec/engine/backend/packed_matrix.h"
#include "encdec/engine/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/engine/run_state.h"

namespace encdec {
namespace {

// oneDNN's packed layout has panels of 64 columns; slices of whole panels waste none.
constexpr Dim kPanelColumns = 64;
// Below this many multiplications an operation is over before another thread would have begun.
constexpr std::int64_t kWorkWorthSharing = 65'536;
// Up to here every number of rows has its own primitive; larger numbers are made of the sizes below and one such rest.
// So there are few primitives, and no row is computed in vain.
constexpr int kExactRows = 32;
constexpr std::array<int, 4> kPieceRows = {256, 128, 64, 32};
// A slice's piece is computed into a dense tile first; this many elements of it stay in the second-level cache.
constexpr Dim kTileElements = 262'144;
// oneDNN's sums of integers need such a tile however few rows there are.
constexpr Dim kWidestIntegerSlice = 4096;
// So many weights are copied before their pages are released.
constexpr Dim kReleasedRows = 1024;

// Our own matmul has no primitives: equal pieces, whose input stays in the second-level cache.
constexpr int kOwnPieceRows = 128;

int piece_rows(std::int64_t remaining, Dim limit) {
  if (remaining <= kExactRows) return static_cast<int>(remaining);
  for (const int rows : kPieceRows) {
    if (rows <= remaining && rows <= std::max<Dim>(limit, kExactRows)) return rows;
  }
  return kExactRows;
}

int own_piece_rows(std::int64_t remaining) {
  const std::int64_t pieces = (remaining + kOwnPieceRows - 1) / kOwnPieceRows;
  return static_cast<int>((remaining + pieces - 1) / pieces);
}

}  // namespace

// Columns [first, first + width) of the output.
struct MatMul::Slice {
  Dim first = 0;
  Dim width = 0;
  backend::PackedMatrix matrix;
};

namespace {

// Rows of several matrices, one matrix after the other, as of one; pages are released behind the reader.
class StackedRows {
 public:
  StackedRows(std::span<const WeightMatrix> matrices, Dim first) : matrices_(matrices) {
    for (; first >= matrices_[matrix_].outputs(); ++matrix_) first -= matrices_[matrix_].outputs();
    next_ = released_ = first;
  }
  ~StackedRows() {
    if (next_ > released_) matrices_[matrix_].release_rows(released_, next_ - released_);
  }
  StackedRows(const StackedRows&) = delete;
  StackedRows& operator=(const StackedRows&) = delete;

  void read(Dim count, float* rows) {
    while (count > 0) {
      const WeightMatrix& matrix = matrices_[matrix_];
      const Dim part = std::min(count, matrix.outputs() - next_);
      matrix.copy_rows(next_, part, rows);
      rows += part * matrix.inputs();
      count -= part;
      next_ += part;
      const bool ends = next_ == matrix.outputs();
      if (ends || next_ - released_ >= kReleasedRows) {
        matrix.release_rows(released_, next_ - released_);
        released_ = next_;
      }
      if (ends) ++matrix_, next_ = released_ = 0;
    }
  }

 private:
  std::span<const WeightMatrix> matrices_;
  std::size_t matrix_ = 0;
  Dim next_ = 0;      // row of the current matrix
  Dim released_ = 0;  // rows of it before this one are done with
};

// Names outputs [first, last) of these matrices as one; empty where one of them has no name.
std::string name_of(std::span<const WeightMatrix> matrices, Dim first, Dim last) {
  std::string names;
  for (const WeightMatrix& matrix : matrices) {
    if (matrix.name().empty()) return "";
    names += names.empty() ? "" : " + ";
    names += matrix.name();
  }
  return fmt::format("{}: {}-{}", names, first, last);
}

// Outputs [first, last) of these matrices as one, packed: found, or packed and kept.
Tensor packed_slice(std::span<const WeightMatrix> matrices, Dim first, const backend::MatMulSpec& spec,
                    PackedWeights* packed) {
  const std::string name = packed == nullptr ? "" : name_of(matrices, first, first + spec.output_width);
  if (!name.empty()) {
    Tensor found = packed->find(name, backend::PackedMatrix::packed_bytes(spec));
    if (!found.empty()) return found;
  }
  StackedRows rows(matrices, first);
  Tensor made = backend::PackedMatrix::pack(spec, [&](Dim, Dim count, float* to) { rows.read(count, to); });
  if (!name.empty()) packed->keep(name, made);
  return made;
}

}  // namespace

MatMul::MatMul(std::span<const WeightMatrix> weights, std::span<const Tensor> biases, const PackOptions& pack,
               Activation activation, Residual residual)
    : residual_(residual) {
  if (weights.empty()) throw ShapeError("matmul without weights");
  if (!biases.empty() && biases.size() != weights.size()) {
    throw ShapeError(fmt::format("matmul of {} weights with {} biases", weights.size(), biases.size()));
  }
  input_width_ = weights[0].inputs();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Dim outputs = weights[i].outputs();
    if (weights[i].inputs() != input_width_) {
      throw ShapeError(fmt::format("matmul weight {} has shape [{}, {}], expected [N, {}]", i, outputs,
                                   weights[i].inputs(), input_width_));
    }
    if (!biases.empty() && !biases[i].empty() && biases[i].shape() != Shape{outputs}) {
      throw ShapeError(
          fmt::format("matmul bias {} has shape {}, expected [{}]", i, to_string(biases[i].shape()), outputs));
    }
    output_width_ += outputs;
  }

  std::vector<float> bias(biases.empty() ? 0 : static_cast<std::size_t>(output_width_), 0.0f);
  Dim column = 0;
  for (std::size_t i = 0; i < biases.size(); ++i) {
    if (!biases[i].empty()) copy_as_float(biases[i], 0, biases[i].elements(), bias.data() + column);
    column += weights[i].outputs();
  }

  const Dim panels = (output_width_ + kPanelColumns - 1) / kPanelColumns;
  const bool shared = input_width_ * output_width_ >= kWorkWorthSharing;
  Dim slices = shared ? std::clamp<Dim>(pack.threads, 1, panels) : 1;
  const backend::Carrier carrier = backend::carrier_for(pack.precision, static_cast<int>(input_width_));
  if (carrier == backend::Carrier::onednn && pack.precision == Precision::int8) {
    slices = std::max(slices, (output_width_ + kWidestIntegerSlice - 1) / kWidestIntegerSlice);
  }
  for (Dim slice = 0; slice < slices; ++slice) {
    const Dim first = slice * panels / slices * kPanelColumns;
    const Dim last = std::min((slice + 1) * panels / slices * kPanelColumns, output_width_);
    const backend::MatMulSpec spec{
        .input_width = static_cast<int>(input_width_),
        .output_width = static_cast<int>(last - first),
        .activation = activation,
        .bias = !biases.empty(),
        // A slice's tile is put in its place afterwards, and the residual is added on the way.
        .residual = residual == Residual::add && (slices == 1 || carrier != backend::Carrier::onednn),
        .precision = pack.precision};
    slices_.push_back({first, last - first,
                       backend::PackedMatrix(spec, packed_slice(weights, first, spec, pack.packed.get()),
                                             biases.empty() ? nullptr : bias.data() + first)});
  }
}

MatMul::~MatMul() = default;
MatMul::MatMul(MatMul&&) noexcept = default;
MatMul& MatMul::operator=(MatMul&&) noexcept = default;

std::size_t MatMul::bytes() const {
  std::size_t total = 0;
  for (const Slice& slice : slices_) total += slice.matrix.bytes();
  return total;
}

void MatMul::copy_weights(Dim output, float* weights) const {
  const auto slice = std::ranges::find_if(slices_, [&](const Slice& s) { return output < s.first + s.width; });
  assert(output >= 0 && slice != slices_.end());
  slice->matrix.copy_row(static_cast<int>(output - slice->first), weights);
}

// All rows in the form that the slices take.
backend::MatMulRows MatMul::convert(const Tensor& input, RunState& state) const {
  const backend::PackedMatrix& matrix = slices_.front().matrix;
  const kernels::InputForm form = matrix.input_form();
  const auto rows = static_cast<int>(input.rows());
  if (form == kernels::InputForm::float32) return {.count = rows, .input = input.raw()};
  const std::size_t row_bytes = matrix.input_row_bytes();
  const std::size_t used = static_cast<std::size_t>(input_width_) * kernels::element_bytes(form);
  Tensor values = state.scratch({static_cast<Dim>((static_cast<std::size_t>(rows) * row_bytes + 3) / 4)});
  Tensor scales = state.scratch({rows});
  std::byte* to = values.raw();
  for_each_row(input, state.team(), [&](int row) {
    std::byte* converted = to + static_cast<std::size_t>(row) * row_bytes;
    scales.data<float>()[row] = kernels::convert_row(form, input.row(row), static_cast<int>(input_width_), converted);
    std::fill(converted + used, converted + row_bytes, std::byte{0});
  });
  return {.count = rows, .input = to, .scales = scales.data<float>()};
}

void MatMul::forward(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const {
  assert((residual != nullptr) == (residual_ == Residual::add));
  assert(input.width() == input_width_ && output.width() == output_width_ && input.rows() == output.rows());
  backend::MatMulRows all = convert(input, state);
  all.residual = residual != nullptr ? residual->data<float>() : nullptr;
  all.output = output.data<float>();
  all.stride = output_width_;
  const backend::PackedMatrix& front = slices_.front().matrix;
  const bool ours = front.carrier() != backend::Carrier::onednn;
  const bool tiled = slices_.size() > 1 || front.spec().precision == Precision::int8;
  const Dim limit = tiled ? kTileElements / slices_.front().width : kPieceRows.front();
  const std::int64_t rows = input.rows();
  std::int64_t first_row = 0;
  // Whole runs of equal pieces are shared out together, so that the team meets a few times only.
  while (first_row < rows) {
    const int piece = ours ? own_piece_rows(rows - first_row) : piece_rows(rows - first_row, limit);
    const int pieces = static_cast<int>((rows - first_row) / piece);
    const int slices = static_cast<int>(slices_.size());
    const auto body = [&](int item, int thread) {
      const std::int64_t row = first_row + item / slices * piece;
      backend::MatMulRows part = all;
      part.count = piece;
      part.input += static_cast<std::size_t>(row) * front.input_row_bytes();
      part.output += row * output_width_;
      if (part.residual != nullptr) part.residual += row * output_width_;
      if (part.scales != nullptr) part.scales += row;
      forward_piece(slices_[static_cast<std::size_t>(item % slices)], part, state, thread);
    };
    if (piece * input_width_ * output_width_ < kWorkWorthSharing) {
      for (int item = 0; item < pieces * slices; ++item) body(item, 0);
    } else {
      state.team().run(pieces * slices, body);
    }
    first_row += static_cast<std::int64_t>(pieces) * piece;
  }
}

void MatMul::forward_piece(const Slice& slice, backend::MatMulRows rows, RunState& state, int thread) const {
  backend::MatMulPrimitives& primitives = state.matmul_primitives(thread);
  rows.output += slice.first;
  if (rows.residual != nullptr) rows.residual += slice.first;
  if (slices_.size() == 1 || slice.matrix.takes_stride() || (rows.count == 1 && rows.residual == nullptr)) {
    return slice.matrix.multiply(rows, primitives);
  }
  // By way of a dense tile.
  backend::MatMulRows tile = rows;
  tile.residual = nullptr;
  tile.output = state.thread_scratch(thread, static_cast<std::size_t>(rows.count * slice.width));
  tile.stride = slice.width;
  slice.matrix.multiply(tile, primitives);
  for (int row = 0; row < rows.count; ++row) {
    const float* from = tile.output + row * slice.width;
    float* to = rows.output + row * rows.stride;
    if (rows.residual == nullptr) {
      std::copy_n(from, slice.width, to);
    } else {
      const float* added = rows.residual + row * rows.stride;
      for (Dim i = 0; i < slice.width; ++i) to[i] = from[i] + added[i];
    }
  }
}

}  // namespace encdec
