#include "encdec/engine/backend/onednn_matmul.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "encdec/engine/backend/packed_matrix.h"
#include "encdec/engine/base/mutex.h"

namespace encdec::backend {
namespace {

using kernels::InputForm;

constexpr int kExactRows = 32;                         // up to this many rows form one block
constexpr std::array kBlockRows = {256, 128, 64, 32};  // block sizes for more rows
// Maximum number of outputs in a dense block, so that the block stays in the L2 cache.
constexpr std::int64_t kTileElements = 262'144;

// The numbers of rows that a Trial compares.
constexpr std::array kRowCounts = {1, 2, 3, 4, 5, 8, 13, 16, 24, 31, 32, 64, 128, 256};

// Returns values whose products are rounded, so that the order of additions matters.
std::vector<float> random_values(std::size_t count, std::uint32_t state) {
  std::vector<float> values(count);
  for (float& x : values) {
    // This is the linear congruential generator of Numerical Recipes.
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) / 0x1p24f - 0.5f;
  }
  return values;
}

// Returns a packed matrix of random weights.
PackedMatrix random_matrix(const MatMulSpec& spec) {
  Tensor packed = PackedMatrix::reserve(spec);
  const auto write = [&](Dim first, Dim count, float* rows, float* /*factors*/) {
    const auto values =
        random_values(static_cast<std::size_t>(count * spec.input_width), static_cast<std::uint32_t>(first + 2));
    std::ranges::copy(values, rows);
  };
  PackedMatrix::pack(spec, 0, spec.output_width, write, packed);
  return PackedMatrix(spec, std::move(packed), nullptr, {});
}

// Multiplies different numbers of copies of one row, and compares the outputs.
class Trial {
 public:
  explicit Trial(const MatMulSpec& spec) : matrix_(random_matrix(spec)), row_(matrix_.input_row_bytes()) {}

  // Tests several rows if there are few outputs, because few outputs may be equal by chance.
  RowTrial run() {
    // `all` is the range of row counts that is safe for all tested rows.
    RowTrial all = try_row(0);
    for (std::uint32_t row = 1; all.agrees && static_cast<int>(row) * spec().output_width < kManyOutputs; ++row) {
      const RowTrial next = try_row(row);
      all = {next.agrees, std::max(all.fewest, next.fewest), std::min(all.most, next.most)};
    }
    return all;
  }

 private:
  const MatMulSpec& spec() const { return matrix_.spec(); }

  RowTrial try_row(std::uint32_t row) {
    const auto values = random_values(static_cast<std::size_t>(spec().input_width), row * 7919 + 1);
    scale_ = kernels::convert_row(spec().backend->input, values.data(), spec().input_width, row_.data());
    // Extend the range around kExactRows in both directions while the outputs stay equal.
    const std::vector<float> expected = first_output(kExactRows);
    const auto agrees = [&](int rows) { return !expected.empty() && first_output(rows) == expected; };
    const auto* const exact = std::ranges::find(kRowCounts, kExactRows);
    const auto* first = exact;
    while (first != kRowCounts.begin() && agrees(first[-1])) --first;
    const auto* last = exact;
    while (last + 1 != kRowCounts.end() && agrees(last[1])) ++last;
    constexpr int kMostCopies = 24;  // more copies would take too much time
    RowTrial trial;
    trial.agrees = !expected.empty() && *first <= kMostCopies;
    if (!trial.agrees) return trial;
    trial.fewest = *first;
    trial.most = *last;
    return trial;
  }

  // Returns the outputs of the first row, or an empty vector if the rows differ.
  std::vector<float> first_output(int rows) {
    std::vector<std::byte> input;
    for (int i = 0; i < rows; ++i) input.insert(input.end(), row_.begin(), row_.end());
    const int width = spec().output_width;
    std::vector<float> output(static_cast<std::size_t>(rows * width));
    const std::vector<float> scales(static_cast<std::size_t>(rows), scale_);
    matrix_.multiply({.count = rows,
                      .input = input.data(),
                      .input_bytes = row_.size(),
                      .output = {.output = output.data(), .stride = width, .row_scales = scales.data()}},
                     primitives_);
    for (int i = 1; i < rows; ++i) {
      if (!std::equal(output.begin(), output.begin() + width, output.begin() + i * width)) return {};
    }
    output.resize(static_cast<std::size_t>(width));
    return output;
  }

  PackedMatrix matrix_;
  std::vector<std::byte> row_;
  float scale_ = 1.0f;
  MatMulPrimitives primitives_;
};

// Results of all trials in this process.
struct Trials {
  Mutex mutex;
  // Results by backend, number of inputs and number of outputs.
  std::map<std::tuple<const Backend*, int, int>, RowTrial> known ENCDEC_GUARDED_BY(mutex);
};

Trials& trials() {
  static Trials all;
  return all;
}

// Returns true if sums of the largest products of bytes are exact. AVX2 adds two products in 16
// bits, which is not exact.
bool sums_are_exact(const kernels::PanelOrder& order) {
  constexpr int kWidth = 64, kRows = 2;
  const std::vector<std::uint8_t> inputs(kRows * kWidth, 255);
  const std::vector<std::int8_t> weights(order.elements(kWidth, kWidth), 127);
  std::vector<std::int32_t> sums(kRows * kWidth);
  MatMulPrimitives primitives;
  primitives.run({.input_width = kWidth, .output_width = kWidth, .type = DataType::int8, .order = order},
                 {.rows = kRows, .input = inputs.data(), .weights = weights.data(), .output = sums.data()});
  return std::ranges::all_of(sums, [](std::int32_t sum) { return sum == kWidth * 255 * 127; });
}

// Returns the number of rows in the next block: all remaining rows if they are at most 32, otherwise 256, 128, 64 or
// 32. There are few sizes, because each size needs its own primitive.
int onednn_pieces(const PackedMatrix& matrix, std::int64_t remaining, std::int64_t output_width) {
  if (remaining <= kExactRows) return static_cast<int>(remaining);
  const MatMulSpec& spec = matrix.spec();
  // Products that are written in place need no scratch memory, so the L2 cache does not limit the block.
  const bool in_place = spec.output_width == output_width && spec.backend->stored != DataType::int8;
  const std::int64_t fitting = in_place ? kBlockRows.front() : kTileElements / spec.output_width;
  const std::int64_t most = std::clamp<std::int64_t>(fitting, kExactRows, matrix.trial().most);
  return *std::ranges::find_if(kBlockRows, [&](int rows) { return rows <= remaining && rows <= most; });
}

// Writes dense products, then applies our epilogue. Works in place if the output is dense and the products are floats.
// Pads with copies of the last row if there are too few rows for a reproducible result.
void multiply_by_onednn(const PackedMatrix& matrix, const kernels::MatMulRows& rows, MatMulPrimitives& primitives) {
  const MatMulSpec& spec = matrix.spec();
  const kernels::OutputRows& output = rows.output;
  const int count = std::max(rows.count, matrix.trial().fewest), width = spec.output_width;
  const bool has_copies = count != rows.count, has_integers = spec.backend->stored == DataType::int8;
  const bool in_place = (output.stride == width || count == 1) && !has_copies && !has_integers;
  const std::size_t sums_bytes = in_place ? 0 : static_cast<std::size_t>(count) * static_cast<std::size_t>(width) * 4;
  const std::size_t copied_bytes = has_copies ? static_cast<std::size_t>(count) * rows.input_bytes : 0;
  std::byte* scratch = primitives.scratch(sums_bytes + copied_bytes);
  std::byte* sums = in_place ? reinterpret_cast<std::byte*>(output.output) : scratch;
  std::byte* copies = scratch + sums_bytes;
  // Copy the rows, then fill up with copies of the last row.
  for (int row = 0; has_copies && row < count; ++row) {
    const auto from = static_cast<std::size_t>(std::min(row, rows.count - 1));
    std::memcpy(copies + static_cast<std::size_t>(row) * rows.input_bytes, rows.input + from * rows.input_bytes,
                rows.input_bytes);
  }
  primitives.run(
      {spec.input_width, width, spec.backend->stored, spec.backend->panel_order},
      {.rows = count, .input = has_copies ? copies : rows.input, .weights = matrix.panels().panels, .output = sums});
  const auto finish = [&]<class Sum>(const Sum* from) {
    kernels::finish_accumulators(matrix.panels().epilogue,
                                 kernels::AccumulatorBlock<Sum>{from, width, rows.count, 0, width}, output);
  };
  has_integers ? finish(reinterpret_cast<const std::int32_t*>(sums)) : finish(reinterpret_cast<const float*>(sums));
}

std::array<Backend, 3> make_backends() {
  static std::array<std::string, 3> names;
  std::array<Backend, 3> all;
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
    // Fall back to float32 if oneDNN has no fast and exact matmul.
    auto found = onednn_implementation(weight_type(precision));
    // Without bfloat16 instructions, oneDNN would widen the weights in every call.
    if (found && precision == Precision::bfloat16 && found->order == kRowOrder) found.reset();
    if (found && precision == Precision::int8 && !sums_are_exact(found->order)) found.reset();
    const DataType stored = found ? weight_type(precision) : DataType::float32;
    if (!found) found = onednn_implementation(stored);
    const auto input = stored == DataType::bfloat16       ? InputForm::bfloat16
                       : stored == DataType::int8         ? InputForm::uint8
                       : precision == Precision::float32  ? InputForm::float32
                       : precision == Precision::bfloat16 ? InputForm::rounded_float32
                                                          : InputForm::dequantized_float32;
    const auto index = static_cast<std::size_t>(precision);
    names[index] = found ? found->name : "ref";
    all[index] = {.name = names[index],
                  .precision = precision,
                  .stored = stored,
                  .panel_order = found ? found->order : kRowOrder,
                  .input = input,
                  .multiply = multiply_by_onednn,
                  .block_rows = onednn_pieces,
                  .trial = try_rows};
  }
  return all;
}

}  // namespace

const Backend& onednn_backend(Precision precision) {
  static const std::array<Backend, 3> all = make_backends();
  return all[static_cast<std::size_t>(precision)];
}

RowTrial try_rows(const Backend& backend, int input_width, int output_width) {
  Trials& all = trials();
  const MutexLock lock(all.mutex);
  output_width = std::min(output_width, kManyOutputs);
  const auto key = std::tuple(&backend, input_width, output_width);
  if (const auto found = all.known.find(key); found != all.known.end()) return found->second;
  const RowTrial result =
      backend.panel_order == kRowOrder ? RowTrial() : Trial({input_width, output_width, &backend}).run();
  return all.known.emplace(key, result).first->second;
}

std::string disagreement(const Backend& backend) {
  Trials& all = trials();
  const MutexLock lock(all.mutex);
  std::set<int> widths;
  for (const auto& [key, trial] : all.known) {
    const auto& [tried, input_width, output_width] = key;
    if (tried == &backend && !trial.agrees) widths.insert(input_width);
  }
  if (widths.empty()) return "";
  return fmt::format("with oneDNN {}, the bits of a row depend on the other rows (matrices with {} inputs)",
                     onednn_version(), fmt::join(widths, ", "));
}

}  // namespace encdec::backend
