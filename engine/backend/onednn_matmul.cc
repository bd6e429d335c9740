#include "encdec/engine/backend/onednn_matmul.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "encdec/engine/backend/packed_matrix.h"
#include "encdec/engine/base/mutex.h"

namespace encdec::backend {
namespace {

constexpr int kExactRows = 32;                         // up to this number of rows, a piece has all rows
constexpr std::array kPieceRows = {256, 128, 64, 32};  // numbers of rows in a piece, if there are more
// Maximum number of elements in a dense tile of outputs, so that it stays in the second-level cache.
constexpr std::int64_t kTileElements = 262'144;

bool is_amd() {
#if defined(__x86_64__)
  static const bool is = __builtin_cpu_is("amd") != 0;
  return is;
#else
  return false;
#endif
}

// Returns true if our own kernel is faster than oneDNN's on AVX-512, because it prefetches weights. Measured with
// weights in memory:
//   Xeon   up to 3 rows: 17 to 19 GB/s instead of 15; other accepted numbers of rows: 5 to 20 % less time
//   Zen 4  1 and 2 rows: 30 GB/s instead of 17; other accepted numbers of rows: 1 to 40 % less time
bool is_for_panels(int rows, int input_width) {
  if (is_amd()) return rows <= 128;
  const int fewest = input_width <= 1024 ? 7 : 24;
  return rows <= 3 || (rows >= fewest && rows <= 64);
}

constexpr int kOutputs = 192;  // outputs of a trial: three wide panels
// Numbers of rows that a trial multiplies. All must give the same bits as the first number.
constexpr std::array kRowCounts = {2, 3, 4, 5, 8, 13, 16, 24, 31, 32, 64, 128, 256};

// Returns values whose products need rounding; without rounding, every order of sums would give the same bits.
std::vector<float> random_values(std::size_t count, std::uint32_t state) {
  std::vector<float> values(count);
  for (float& x : values) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) / 0x1p24f - 0.5f;
  }
  return values;
}

// Multiplies a matrix by copies of one row, for several numbers of copies.
class Trial {
 public:
  Trial(const Backend& backend, int input_width)
      : backend_(backend), input_width_(input_width), row_(random_values(static_cast<std::size_t>(input_width), 1)) {
    const MatMulSpec spec{input_width, kOutputs, &backend};
    weights_ = PackedMatrix::reserve(spec);
    const auto write = [&](Dim first, Dim count, float* rows) {
      const auto values =
          random_values(static_cast<std::size_t>(count * input_width), static_cast<std::uint32_t>(first + 2));
      std::ranges::copy(values, rows);
    };
    PackedMatrix::pack(spec, 0, kOutputs, write, weights_);
  }

  RowTrial run() {
    RowTrial trial;
    const std::vector<float> expected = first_output(kRowCounts.front());
    trial.agrees =
        !expected.empty() && std::ranges::all_of(kRowCounts, [&](int rows) { return first_output(rows) == expected; });
    trial.one_row_agrees = first_output(1) == expected;
    if (trial.agrees) trial.chunk = find_chunk(expected);
    return trial;
  }

 private:
  // Returns the outputs of the first row; empty if the rows' outputs differ.
  std::vector<float> first_output(int rows) {
    std::vector<float> input;
    for (int i = 0; i < rows; ++i) input.insert(input.end(), row_.begin(), row_.end());
    std::vector<float> output(static_cast<std::size_t>(rows) * kOutputs);
    primitives_.run({.input_width = input_width_, .output_width = kOutputs},
                    {.rows = rows,
                     .input = input.data(),
                     .weights = reinterpret_cast<const float*>(weights_.raw()),
                     .output = output.data()});
    for (int i = 1; i < rows; ++i) {
      if (!std::equal(output.begin(), output.begin() + kOutputs, output.begin() + i * kOutputs)) return {};
    }
    output.resize(kOutputs);
    return output;
  }

  int find_chunk(const std::vector<float>& expected) const {
    std::vector<float> output(kOutputs);
    for (const int chunk : {512, 1024, std::max(input_width_, 1025)}) {
      kernels::multiply_panels(
          {.panels = weights_.raw(), .input_width = input_width_, .output_width = kOutputs},
          {.count = 1, .input = reinterpret_cast<const std::byte*>(row_.data()), .output = {.output = output.data()}},
          {.columns = backend_.panel_order.columns, .chunk = chunk});
      if (output == expected) return chunk;
    }
    return 0;
  }

  const Backend& backend_;
  int input_width_;
  std::vector<float> row_;
  Tensor weights_;
  MatMulPrimitives primitives_;
};

struct Trials {
  Mutex mutex;
  std::map<int, RowTrial> known ENCDEC_GUARDED_BY(mutex);  // by input width
};

Trials& trials() {
  static Trials all;
  return all;
}

}  // namespace

int onednn_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width) {
  if (remaining <= kExactRows) return static_cast<int>(remaining);
  const int width = matrix.spec().output_width;
  const std::int64_t most =
      width != output_width ? std::max<std::int64_t>(kTileElements / width, kExactRows) : kPieceRows.front();
  return *std::ranges::find_if(kPieceRows, [&](int rows) { return rows <= remaining && rows <= most; });
}

// A primitive writes dense rows. If the output's rows are not dense, the primitive writes a dense tile, which is then
// copied. If a single row would get other bits, it is computed as the first of two equal rows.
void multiply_by_onednn(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives) {
  const MatMulSpec& spec = matrix.spec();
  const RowTrial& trial = matrix.trial();
  const kernels::OutputRows& output = rows.output;
  if (trial.chunk != 0 && is_for_panels(rows.count, spec.input_width)) {
    return kernels::multiply_panels(matrix.panels(), rows,
                                    {.columns = spec.backend->panel_order.columns, .chunk = trial.chunk});
  }
  const bool twice = rows.count == 1 && !trial.one_row_agrees;
  const bool dense = output.stride == spec.output_width || (rows.count == 1 && output.residual == nullptr);
  const bool in_place = dense && !twice;
  // oneDNN applies relu; our own kernels apply the other activations. So a row gets the same bits whether oneDNN or our
  // own kernel multiplies. oneDNN also adds the residual, unless one of our steps must come before it.
  const bool relu = spec.activation == Activation::relu;
  const bool fused = relu || spec.activation == Activation::identity;

  const int count = twice ? 2 : rows.count;
  const std::size_t tile_bytes =
      in_place ? 0 : static_cast<std::size_t>(count) * static_cast<std::size_t>(spec.output_width) * sizeof(float);
  std::byte* scratch = primitives.scratch(tile_bytes + (twice ? 2 * rows.input_bytes : 0));
  float* sums = in_place ? output.output : reinterpret_cast<float*>(scratch);
  std::byte* copies = scratch + tile_bytes;
  for (int copy = 0; twice && copy < 2; ++copy) {
    std::memcpy(copies + static_cast<std::size_t>(copy) * rows.input_bytes, rows.input, rows.input_bytes);
  }
  const kernels::MatMulEpilogue& epilogue = matrix.panels().epilogue;
  primitives.run({.input_width = spec.input_width,
                  .output_width = spec.output_width,
                  .bias = epilogue.bias != nullptr,
                  .relu = relu,
                  .residual = in_place && fused && output.residual != nullptr},
                 {.rows = count,
                  .input = reinterpret_cast<const float*>(twice ? copies : rows.input),
                  .weights = reinterpret_cast<const float*>(matrix.panels().panels),
                  .bias = epilogue.bias,
                  .residual = output.residual,
                  .output = sums});
  if (in_place && fused) return;
  kernels::finish_sums({.activation = fused ? Activation::identity : spec.activation},
                       kernels::SumsBlock<float>{sums, spec.output_width, rows.count, 0, spec.output_width}, output);
}

RowTrial try_rows(const Backend& backend, int input_width) {
  Trials& all = trials();
  const MutexLock lock(all.mutex);
  if (const auto found = all.known.find(input_width); found != all.known.end()) return found->second;
  return all.known.emplace(input_width, Trial(backend, input_width).run()).first->second;
}

std::string disagreements() {
  Trials& all = trials();
  const MutexLock lock(all.mutex);
  std::vector<int> widths;
  for (const auto& [width, trial] : all.known) {
    if (!trial.agrees) widths.push_back(width);
  }
  if (widths.empty()) return "";
  return fmt::format(
      "precision float32: with oneDNN {}, the bits of a row depend on the other rows (matrices with {} inputs); "
      "encdec's own kernels multiply instead",
      onednn_version(), fmt::join(widths, ", "));
}

}  // namespace encdec::backend
