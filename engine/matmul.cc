#include "encdec/engine/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/error.h"
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
// A slice's piece is computed into a dense tile first; this many floats of it stay in the second-level cache.
constexpr Dim kTileFloats = 262'144;

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

MatMul::MatMul(std::span<const Tensor> weights, std::span<const Tensor> biases, const PackOptions& pack,
               Activation activation, Residual residual)
    : residual_(residual) {
  if (weights.empty()) throw ShapeError("matmul without weights");
  if (!biases.empty() && biases.size() != weights.size()) {
    throw ShapeError(fmt::format("matmul of {} weights with {} biases", weights.size(), biases.size()));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Shape& shape = weights[i].shape();
    if (shape.rank() != 2 || shape[1] != weights[0].shape()[1]) {
      throw ShapeError(fmt::format("matmul weight {} has shape {}, expected [N, {}]", i, to_string(shape),
                                   i == 0 ? "K" : std::to_string(weights[0].shape()[1])));
    }
    if (!biases.empty() && !biases[i].empty() && biases[i].shape() != Shape{shape[0]}) {
      throw ShapeError(
          fmt::format("matmul bias {} has shape {}, expected [{}]", i, to_string(biases[i].shape()), shape[0]));
    }
    output_width_ += shape[0];
  }
  input_width_ = weights[0].shape()[1];

  std::vector<float> bias(biases.empty() ? 0 : static_cast<std::size_t>(output_width_), 0.0f);
  Dim column = 0;
  for (std::size_t i = 0; i < biases.size(); ++i) {
    if (!biases[i].empty()) copy_as_float(biases[i], 0, biases[i].elements(), bias.data() + column);
    column += weights[i].shape()[0];
  }

  const Dim panels = (output_width_ + kPanelColumns - 1) / kPanelColumns;
  const bool shared = input_width_ * output_width_ >= kWorkWorthSharing;
  const Dim slices = shared ? std::clamp<Dim>(pack.threads, 1, panels) : 1;
  for (Dim slice = 0; slice < slices; ++slice) {
    const Dim first = slice * panels / slices * kPanelColumns;
    const Dim last = std::min((slice + 1) * panels / slices * kPanelColumns, output_width_);
    const backend::MatMulSpec spec{
        .input_width = static_cast<int>(input_width_),
        .output_width = static_cast<int>(last - first),
        .activation = activation,
        .bias = !biases.empty(),
        // A slice's tile is put in its place afterwards, and the residual is added on the way.
        .residual = residual == Residual::add && slices == 1};
    const float* slice_bias = biases.empty() ? nullptr : bias.data() + first;
    // Files need not align tensors even to their elements.
    const bool aligned = reinterpret_cast<std::uintptr_t>(weights[0].raw()) % alignof(float) == 0;
    if (weights.size() == 1 && weights[0].type() == DataType::float32 && aligned) {
      const auto* stored = reinterpret_cast<const float*>(weights[0].raw());
      slices_.push_back({first, last - first, backend::PackedMatrix(spec, stored + first * input_width_, slice_bias)});
      continue;
    }
    Tensor gathered = Tensor::uninitialized({last - first, input_width_});
    Dim begin = 0;  // of the current weight's rows among all
    for (const Tensor& weight : weights) {
      const Dim from = std::max(first, begin), to = std::min(last, begin + weight.shape()[0]);
      if (from < to) {
        copy_as_float(weight, (from - begin) * input_width_, (to - from) * input_width_, gathered.row(from - first));
      }
      begin += weight.shape()[0];
    }
    slices_.push_back({first, last - first, backend::PackedMatrix(spec, gathered.data<float>(), slice_bias)});
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

void MatMul::forward(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const {
  assert((residual != nullptr) == (residual_ == Residual::add));
  assert(input.width() == input_width_ && output.width() == output_width_ && input.rows() == output.rows());
  const bool ours = slices_.front().matrix.is_ours();
  const Dim limit = slices_.size() == 1 ? kPieceRows.front() : kTileFloats / slices_.front().width;
  const std::int64_t rows = input.rows();
  std::int64_t first_row = 0;
  // Whole runs of equal pieces are shared out together, so that the team meets a few times only.
  while (first_row < rows) {
    const int piece = ours ? own_piece_rows(rows - first_row) : piece_rows(rows - first_row, limit);
    const int pieces = static_cast<int>((rows - first_row) / piece);
    const int slices = static_cast<int>(slices_.size());
    const auto body = [&](int item, int thread) {
      forward_piece(slices_[static_cast<std::size_t>(item % slices)],
                    static_cast<int>(first_row) + item / slices * piece, piece, input, residual, output, state, thread);
    };
    if (piece * input_width_ * output_width_ < kWorkWorthSharing) {
      for (int item = 0; item < pieces * slices; ++item) body(item, 0);
    } else {
      state.team().run(pieces * slices, body);
    }
    first_row += static_cast<std::int64_t>(pieces) * piece;
  }
}

void MatMul::forward_piece(const Slice& slice, int first_row, int rows, const Tensor& input, const Tensor* residual,
                           Tensor& output, RunState& state, int thread) const {
  backend::MatMulContext& context = state.matmul_context(thread);
  if (slices_.size() == 1 || slice.matrix.is_ours()) {
    context.run(slice.matrix, {.count = rows,
                               .input = input.row(first_row),
                               .residual = residual != nullptr ? residual->row(first_row) + slice.first : nullptr,
                               .output = output.row(first_row) + slice.first,
                               .stride = output_width_});
    return;
  }
  // oneDNN writes dense rows only. One row of a slice is dense where it belongs; several go by way of a tile.
  const bool direct = rows == 1 && residual == nullptr;
  float* tile = direct ? output.row(first_row) + slice.first
                       : state.thread_scratch(thread, static_cast<std::size_t>(rows * slice.width));
  context.run(slice.matrix, {.count = rows, .input = input.row(first_row), .output = tile});
  if (direct) return;
  for (int row = 0; row < rows; ++row) {
    const float* from = tile + row * slice.width;
    float* to = output.row(first_row + row) + slice.first;
    if (residual == nullptr) {
      std::copy_n(from, slice.width, to);
    } else {
      const float* added = residual->row(first_row + row) + slice.first;
      for (Dim i = 0; i < slice.width; ++i) to[i] = from[i] + added[i];
    }
  }
}

}  // namespace encdec
