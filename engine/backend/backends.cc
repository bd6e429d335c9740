#include "encdec/engine/backend/backends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "encdec/engine/backend/packed_matrix.h"
#include "encdec/engine/base/error.h"

namespace encdec::backend {
namespace {

using namespace kernels;

// Returns true if the CPU has the instruction set `set`. Backend::can_run points to this function.
template <auto set>
bool has() {
  return instruction_sets().*set;
}

using Cpu = InstructionSets;
constexpr auto kFloat32 = Precision::float32, kBfloat16 = Precision::bfloat16, kInt8 = Precision::int8,
               kInt4 = Precision::int4;

#if ENCDEC_MATMUL_KERNELS

bool always() {
  return true;
}

// The functions below, up to kernel(), adapt a kernel to the signature of Backend::multiply().
template <auto kernel>
void by(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives&) {
  kernel(matrix.panels(), rows);
}

template <PanelForm form>
void by_panels(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives& primitives) {
  std::byte* widened = nullptr;
  if constexpr (form != PanelForm::narrow_float32 && form != PanelForm::wide_float32) {
    widened = primitives.scratch(std::size_t{kPanelChunk} * kWideColumns * sizeof(float));
  }
  multiply_panels(matrix.panels(), rows, form, reinterpret_cast<float*>(widened));
}

template <auto kernel>
void by_unpacking(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives& primitives) {
  const PanelOrder order = matrix.spec().backend->panel_order;
  std::byte* panel = primitives.scratch(order.panel_elements(matrix.spec().input_width));
  multiply_unpacked(matrix.panels(), rows, order, kernel, reinterpret_cast<std::int8_t*>(panel));
}

#if defined(__x86_64__)
void by_nibbles(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives& primitives) {
  const std::size_t blocks = static_cast<std::size_t>(rows.count) * rows.input_bytes / kNibbleBlock;
  multiply_nibbles(matrix.panels(), rows,
                   reinterpret_cast<std::int32_t*>(primitives.scratch(blocks * sizeof(std::int32_t))));
}

template <auto kernel>
void by_few_or_unpacking(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives& primitives) {
  rows.count <= kFewNibbleRows ? multiply_few_by_nibbles(matrix.panels(), rows)
                               : by_unpacking<kernel>(matrix, rows, primitives);
}
#endif

constexpr Backend kernel(std::string_view name, Precision precision, bool (*can_run)(), PanelOrder order,
                         InputForm input, std::size_t input_unit, decltype(Backend::multiply) multiply) {
  return {name, precision, can_run, weight_type(precision), order, input, input_unit, multiply};
}

// Returns a backend for precision float32 that multiplies panels of weights stored in `type`.
constexpr Backend panels(DataType type, bool (*can_run)(), int columns, decltype(Backend::multiply) multiply) {
  return {"panels", kFloat32, can_run, type, {columns, 1}, InputForm::float32, 4, multiply};
}

constexpr int kNarrow = kNarrowColumns, kWide = kWideColumns;

// The kernels in order of preference: for each precision, the first kernel that this CPU can run is used.
constexpr Backend kKernels[] = {
#if defined(__aarch64__)
    kernel("matrices", kBfloat16, has_matrix_products, {kNarrow, 4}, InputForm::bfloat16, kNeonRowBytes,
           by<multiply_bfloat16_matrices>),
    kernel("matrices", kInt8, has_matrix_products, {kNarrow, 8}, InputForm::int8, kNeonRowBytes,
           by<multiply_int8_matrices>),
    kernel("dots", kInt8, always, {kNarrow, 4}, InputForm::int8, kNeonRowBytes, by<multiply_dots>),
    kernel("matrices", kInt4, has_matrix_products, {kNarrow, 8}, InputForm::int8, kNeonRowBytes,
           by_unpacking<multiply_int8_matrices>),
    kernel("dots", kInt4, always, {kNarrow, 4}, InputForm::int8, kNeonRowBytes, by_unpacking<multiply_dots>),
#endif
#if defined(__x86_64__)
    kernel("tiles", kBfloat16, has<&Cpu::amx>, {kWide, 2}, InputForm::bfloat16, kTileRowBytes,
           by<multiply_bfloat16_tiles>),
    kernel("tiles", kInt8, has<&Cpu::amx>, {kWide, 4}, InputForm::uint8, kTileRowBytes, by<multiply_int8_tiles>),
    kernel("pairs", kBfloat16, has<&Cpu::avx512_bfloat16>, {kWide, 2}, InputForm::bfloat16, kProductsBytes,
           by<multiply_bfloat16_pairs>),
    kernel("bytes", kInt8, has<&Cpu::avx512_vnni>, {kWide, 4}, InputForm::uint8, kProductsBytes, by<multiply_bytes>),
    kernel("tiles", kInt4, has<&Cpu::amx>, {kWide, 4}, InputForm::uint8, kTileRowBytes,
           by_few_or_unpacking<multiply_int8_tiles>),
    kernel("bytes", kInt4, has<&Cpu::avx512_vnni>, {kWide, 4}, InputForm::uint8, kNibbleBlock,
           by_few_or_unpacking<multiply_bytes>),
    kernel("pairs", kInt4, has_byte_pairs, {kNarrow, 4}, InputForm::int8, kNibbleBlock, by_nibbles),
#endif
    panels(DataType::float32, has<&Cpu::avx512>, kWide, by_panels<PanelForm::wide_float32>),
    panels(DataType::float16, has<&Cpu::avx512>, kWide, by_panels<PanelForm::wide_float16>),
    panels(DataType::bfloat16, has<&Cpu::avx512>, kWide, by_panels<PanelForm::wide_bfloat16>),
    panels(DataType::float32, always, kNarrow, by_panels<PanelForm::narrow_float32>),
    panels(DataType::float16, widens_float16, kNarrow, by_panels<PanelForm::narrow_float16>),
    panels(DataType::bfloat16, always, kNarrow, by_panels<PanelForm::narrow_bfloat16>),
    kernel("panels", kBfloat16, always, {kNarrow, 1}, InputForm::rounded_float32, 4,
           by_panels<PanelForm::narrow_bfloat16>),
    kernel("integers", kInt8, always, {kNarrow, 2}, InputForm::int16, 4, by<multiply_integers>),
    kernel("integers", kInt4, always, {kNarrow, 2}, InputForm::int16, 4, by_unpacking<multiply_integers>),
};

#else

constexpr std::array<Backend, 0> kKernels;

#endif

const Backend* kernel_for(Precision precision) {
  const auto* const found = std::ranges::find_if(
      kKernels, [&](const Backend& kernel) { return kernel.precision == precision && kernel.can_run(); });
  return found == std::end(kKernels) ? nullptr : found;
}

}  // namespace

int equal_blocks(const PackedMatrix&, std::int64_t remaining, std::int64_t) {
  constexpr int kMaxRows = 128;
  const std::int64_t blocks = (remaining + kMaxRows - 1) / kMaxRows;
  return static_cast<int>((remaining + blocks - 1) / blocks);
}

BackendChoice default_backend() {
  const char* const name = std::getenv("ENCDEC_BACKEND");
  if (name == nullptr || *name == '\0') return BackendChoice::automatic;
  const auto known = backend_named(name);
  if (!known) throw ConfigError(fmt::format("ENCDEC_BACKEND is '{}', expected auto, onednn or encdec", name));
  return *known;
}

bool can_multiply(BackendChoice choice, Precision precision) {
  return precision != kInt4 || (choice != BackendChoice::onednn && kernel_for(precision) != nullptr);
}

// BackendChoice::automatic uses our kernel if this build has it. The table shows the time of oneDNN 2.6.3 divided by
// the time of our kernel, on a Xeon, for a matrix of 512 x 2,048 in memory:
//
//   rows                 1     2     3     4     6     8    16    32    64   128   256
//   float32           1.21  1.21  1.20  1.08  1.03  1.08  1.05  1.11  1.07  1.00  1.00
//   bfloat16, AMX     1.24  1.24  1.24  1.24  1.22  1.22  1.20  1.07  0.99  0.89  0.89
//   bfloat16, no AMX  1.21  1.20  1.10  0.81  0.87  1.22  1.15  1.16  1.09  1.04  1.01
//   int8, AMX         1.42  1.39  1.30  1.24  1.22  1.20  1.15  1.12  1.10  1.20  1.45
//   int8, no AMX      1.18  1.22  1.20  1.16  1.28  1.26  1.25  1.39  1.30  1.25  1.25
//
// In whole models, our kernels are at least as fast as oneDNN for 1 to 128 rows, even where the table shows less than 1
// (docs/performance.md). So neither the choice of the kernel nor the results depend on the number of rows.
const Backend& backend_for(BackendChoice choice, Precision precision) {
  const Backend* kernel = kernel_for(precision);
  if (choice == BackendChoice::encdec && kernel == nullptr) {
    throw ConfigError("backend is encdec, expected onednn: this library was built without its own matmul kernels");
  }
  if (!can_multiply(choice, precision)) {
    throw ConfigError("precision is int4, which oneDNN does not multiply: use the backend encdec, or int8");
  }
  return choice == BackendChoice::onednn || kernel == nullptr ? onednn_backend(precision) : *kernel;
}

std::vector<const Backend*> smaller_backends(BackendChoice choice, Precision precision) {
  // Multiplying by 16-bit weights must give the same results as by float32 weights, so the panels must be the same.
  const Backend& whole = backend_for(choice, precision);
  std::vector<const Backend*> smaller;
  if (precision != kFloat32 || whole.can_run == nullptr) return smaller;
  for (const Backend& kernel : kKernels) {
    const bool is_like = kernel.precision == kFloat32 && kernel.panel_order == whole.panel_order;
    if (is_like && kernel.stored != whole.stored && kernel.can_run()) smaller.push_back(&kernel);
  }
  return smaller;
}

bool rows_are_independent(BackendChoice choice, Precision precision, int input_width, int output_width) {
  const Backend& backend = backend_for(choice, precision);
  return backend.trial == nullptr || backend.trial(backend, input_width, output_width).agrees;
}

bool multiplies_in(BackendChoice choice, Precision precision) {
  const InputForm form = backend_for(choice, precision).input;
  return form != InputForm::rounded_float32 && form != InputForm::dequantized_float32;
}

std::string description(BackendChoice choice, Precision precision, std::span<const Dim> input_widths) {
  if (!can_multiply(choice, precision)) return "";
  const Backend& backend = backend_for(choice, precision);
  const bool depend = std::ranges::any_of(
      input_widths, [&](Dim width) { return !rows_are_independent(choice, precision, static_cast<int>(width)); });
  return fmt::format("{} ({}){}", backend.trial == nullptr ? "encdec" : "onednn", backend.name,
                     depend ? "; the bits of a row depend on the other rows" : "");
}

std::string note(BackendChoice choice, Precision precision) {
  const Backend& backend = backend_for(choice, precision);
  std::vector<std::string> reasons;
  if (!multiplies_in(choice, precision)) {
    reasons.push_back(
        fmt::format("{0} has no instructions for it; weights and inputs are rounded to {1} and multiplied as float32",
                    backend.trial != nullptr ? "oneDNN on this CPU" : "this CPU", to_string(precision)));
  }
  if (std::string rows = disagreement(backend); !rows.empty()) reasons.push_back(std::move(rows));
  if (reasons.empty()) return "";
  return fmt::format("precision {}: {}", to_string(precision), fmt::join(reasons, "; "));
}

}  // namespace encdec::backend
