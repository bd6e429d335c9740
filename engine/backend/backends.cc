#include "encdec/engine/backend/backends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <set>
#include <vector>

#include "encdec/engine/backend/packed_matrix.h"
#include "encdec/engine/base/error.h"

namespace encdec::backend {
namespace {

using namespace kernels;

template <auto set>
bool has() {
  return instruction_sets().*set;
}

using Cpu = InstructionSets;
constexpr auto kFloat32 = Precision::float32, kBfloat16 = Precision::bfloat16, kInt8 = Precision::int8;

#if ENCDEC_MATMUL_KERNELS

bool always() {
  return true;
}

template <auto kernel>
void by(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives&) {
  kernel(matrix.panels(), rows);
}

template <PanelSums::Weights type>
void by_panels(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives&) {
  multiply_panels(
      matrix.panels(), rows,
      {.weights = type, .columns = matrix.spec().backend->panel_order.columns, .chunk = matrix.trial().chunk});
}

// Multiplies with the tiles of AMX, or a few rows with VNNI. Every CPU with AMX has VNNI, and both read the same
// operands. The bits are equal because integer sums are exact.
void by_integer_tiles(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives&) {
  constexpr int kFewRows = 4;
  (rows.count <= kFewRows ? multiply_bytes : multiply_int8_tiles)(matrix.panels(), rows);
}

constexpr auto by_float_panels = by_panels<PanelSums::Weights::float32>;
constexpr auto by_bfloat16_panels = by_panels<PanelSums::Weights::bfloat16>;
constexpr auto by_matrices = by<multiply_bfloat16_matrices>;
constexpr auto by_int8_matrices = by<multiply_int8_matrices>;
constexpr int kNarrow = kNarrowColumns, kWide = kWideColumns;

// The best first. All read inputs in the form of their precision, except that the last rows widen them.
constexpr Backend kKernels[] = {
    {"matrices",
     kBfloat16,
     has_matrix_products,
     kBfloat16,
     {kNarrow, 4},
     InputForm::bfloat16,
     kNeonRowBytes,
     by_matrices},
    {"matrices", kInt8, has_matrix_products, kInt8, {kNarrow, 8}, InputForm::int8, kNeonRowBytes, by_int8_matrices},
    {"dots", kInt8, has_neon, kInt8, {kNarrow, 4}, InputForm::int8, kNeonRowBytes, by<multiply_dots>},
    {"tiles",
     kBfloat16,
     has<&Cpu::amx>,
     kBfloat16,
     {kWide, 2},
     InputForm::bfloat16,
     kTileRowBytes,
     by<multiply_bfloat16_tiles>},
    {"tiles", kInt8, has<&Cpu::amx>, kInt8, {kWide, 4}, InputForm::uint8, kTileRowBytes, by_integer_tiles},
    {"pairs",
     kBfloat16,
     has<&Cpu::avx512_bfloat16>,
     kBfloat16,
     {kWide, 2},
     InputForm::bfloat16,
     kProductsBytes,
     by<multiply_bfloat16_pairs>},
    {"bytes", kInt8, has<&Cpu::avx512_vnni>, kInt8, {kWide, 4}, InputForm::uint8, kProductsBytes, by<multiply_bytes>},
    {"panels", kFloat32, has<&Cpu::avx512>, kFloat32, {kWide, 1}, InputForm::float32, 4, by_float_panels},
    {"panels", kFloat32, always, kFloat32, {kNarrow, 1}, InputForm::float32, 4, by_float_panels},
    {"panels", kBfloat16, always, kBfloat16, {kNarrow, 1}, InputForm::rounded_float32, 4, by_bfloat16_panels},
    {"integers", kInt8, always, kInt8, {kNarrow, 2}, InputForm::int16, 4, by<multiply_integers>},
};

#else

constexpr std::array<Backend, 0> kKernels;

#endif

bool is_amd() {
#if defined(__x86_64__)
  static const bool is = __builtin_cpu_is("amd") != 0;
  return is;
#else
  return false;
#endif
}

bool is_intel() {
  return !is_amd();
}

// Matrices and numbers of rows for which oneDNN is faster than our kernel, on one kind of CPU.
struct FasterOneDnn {
  Precision precision;
  bool (*has_instructions)();
  bool (*is_vendor)();
  int min_inputs, max_inputs;
  int min_rows, max_rows;
};

constexpr int kAny = std::numeric_limits<int>::max();

// The rule of BackendChoice::automatic: our kernel multiplies unless a line says that oneDNN is faster. Time of oneDNN
// divided by time of our kernel, with oneDNN 2.6.3 and weights in memory:
//
//   rows                1     2     3     4     6     8    16    24    32    64   128   256
//   float32   Xeon   1.22  1.20  1.20  0.99  0.99  1.05  1.02  1.17  1.11  1.07  0.99  1.00   up to 1,024 inputs
//             Xeon   1.20  1.12  1.12  0.99  0.99  0.99  0.99  1.05  1.03  1.02  0.97  1.00   2,048 inputs
//   bfloat16  AMX    1.24  1.24  1.24  1.24  1.22  1.22  1.20  1.08  1.07  0.99  0.89  0.89
//   bfloat16  Xeon   1.25  1.20  1.15  0.70  0.80  1.20  1.13  1.17  1.13  1.09  1.04  1.01   without AMX
//   int8      AMX    1.45  1.38  1.38  1.15  1.23  1.25  1.20  1.17  1.15  1.10  1.20  1.45
//   int8      Xeon   1.20  1.21  1.18  0.97  0.93  1.20  1.24  1.35  1.35  1.30  1.25  1.25   without AMX
//
// On a Zen 4 our float32 kernel reads 30 GB/s instead of 17 with one and two rows, and takes 1 to 40 % less time with
// up to 128 rows.
constexpr FasterOneDnn kFasterOneDnn[] = {
    {kFloat32, has<&Cpu::avx512>, is_intel, 1, 1024, 4, 6},
    {kFloat32, has<&Cpu::avx512>, is_intel, 1025, kAny, 4, 23},
    {kFloat32, has<&Cpu::avx512>, is_intel, 1, kAny, 65, kAny},
    {kFloat32, has<&Cpu::avx512>, is_amd, 1, kAny, 129, kAny},
    {kBfloat16, has<&Cpu::amx>, is_intel, 1, kAny, 49, kAny},
};

bool is_onednn_faster(Precision precision, int inputs, int rows) {
  return std::ranges::any_of(kFasterOneDnn, [&](const FasterOneDnn& line) {
    return line.precision == precision && line.has_instructions() && line.is_vendor() && inputs >= line.min_inputs &&
           inputs <= line.max_inputs && rows >= line.min_rows && rows <= line.max_rows;
  });
}

void by_faster(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives& primitives) {
  const Backend& backend = *matrix.spec().backend;
  const RowTrial& trial = matrix.trial();
  const bool by_onednn = trial.agrees && (!trial.kernel_agrees ||
                                          is_onednn_faster(backend.precision, matrix.spec().input_width, rows.count));
  (by_onednn ? multiply_by_onednn : backend.kernel->multiply)(matrix, rows, primitives);
}

const Backend* kernel_for(Precision precision) {
  const auto* const found = std::ranges::find_if(
      kKernels, [&](const Backend& kernel) { return kernel.precision == precision && kernel.can_run(); });
  return found == std::end(kKernels) ? nullptr : found;
}

// Returns a backend that multiplies with oneDNN and, for the numbers of rows for which it is faster, with our kernel.
// Both read the same weights and inputs. Its name is empty if there is none.
Backend make_mixture(Precision precision) {
  const Backend* kernel = kernel_for(precision);
  Backend mixture = onednn_backend(precision);
  const bool is_ever_faster = std::ranges::any_of(kFasterOneDnn, [&](const FasterOneDnn& line) {
    return line.precision == precision && line.has_instructions() && line.is_vendor();
  });
  if (kernel == nullptr || !is_ever_faster || kernel->panel_order != mixture.panel_order ||
      kernel->input != mixture.input) {
    return {};
  }
  mixture.multiply = by_faster;
  mixture.input_unit = kernel->input_unit;
  mixture.kernel = kernel;
  return mixture;
}

const Backend* mixture_for(Precision precision) {
  static const std::array<Backend, 3> all = {make_mixture(kFloat32), make_mixture(kBfloat16), make_mixture(kInt8)};
  const Backend& found = all[static_cast<std::size_t>(precision)];
  return found.multiply == nullptr ? nullptr : &found;
}

// Returns true if one backend may multiply all rows with oneDNN and our kernel, or with oneDNN alone.
bool is_usable(const Backend& mixture, int input_width, int output_width) {
  const bool is_dense = static_cast<std::size_t>(input_width) * element_bytes(mixture.input) % mixture.input_unit == 0;
  if (!is_dense) return false;
  const RowTrial trial = mixture.trial(mixture, input_width, output_width);
  return trial.agrees && (trial.kernel_agrees || mixture.precision == kFloat32);
}

}  // namespace

int equal_pieces(const PackedMatrix&, std::int64_t remaining, std::int64_t) {
  constexpr int kMaxRows = 128;
  const std::int64_t pieces = (remaining + kMaxRows - 1) / kMaxRows;
  return static_cast<int>((remaining + pieces - 1) / pieces);
}

BackendChoice default_backend() {
  const char* const name = std::getenv("ENCDEC_BACKEND");
  if (name == nullptr || *name == '\0') return BackendChoice::automatic;
  const auto known = backend_named(name);
  if (!known) throw ConfigError(fmt::format("ENCDEC_BACKEND is '{}', expected auto, onednn or encdec", name));
  return *known;
}

const Backend& backend_for(BackendChoice choice, Precision precision, int input_width, int output_width) {
  const Backend* kernel = kernel_for(precision);
  if (choice == BackendChoice::encdec && kernel == nullptr) {
    throw ConfigError("backend is encdec, expected onednn: this library was built without its own matmul kernels");
  }
  if (choice == BackendChoice::onednn || kernel == nullptr) return onednn_backend(precision);
  const Backend* mixture = choice == BackendChoice::automatic ? mixture_for(precision) : nullptr;
  return mixture != nullptr && is_usable(*mixture, input_width, output_width) ? *mixture : *kernel;
}

bool rows_agree(BackendChoice choice, Precision precision, int input_width, int output_width) {
  const Backend& backend = backend_for(choice, precision, input_width, output_width);
  return backend.trial == nullptr || backend.trial(backend, input_width, output_width).agrees;
}

bool multiplies_in(BackendChoice choice, Precision precision) {
  constexpr int kWidth = 64;
  const InputForm form = backend_for(choice, precision, kWidth).input;
  return form != InputForm::rounded_float32 && form != InputForm::dequantized_float32;
}

std::string description(BackendChoice choice, Precision precision, std::span<const Dim> input_widths) {
  std::set<std::string> names;
  bool depend = false;
  for (const Dim input_width : input_widths) {
    const int width = static_cast<int>(input_width);
    const Backend& backend = backend_for(choice, precision, width);
    const Backend* kernel = backend.trial == nullptr ? &backend : backend.kernel;
    if (backend.trial != nullptr) names.emplace(backend.name);
    if (kernel != nullptr) names.insert(fmt::format("encdec ({})", kernel->name));
    depend = depend || !rows_agree(choice, precision, width);
  }
  // In alphabetical order oneDNN would come last.
  return fmt::format("{}{}", fmt::join(names.rbegin(), names.rend(), " and "),
                     depend ? "; the bits of a row depend on the other rows" : "");
}

std::string note(BackendChoice choice, Precision precision) {
  const bool has_kernel = kernel_for(precision) != nullptr;
  const bool alone = choice == BackendChoice::onednn || !has_kernel;
  const Backend* by_onednn = alone                                ? &onednn_backend(precision)
                             : choice == BackendChoice::automatic ? mixture_for(precision)
                                                                  : nullptr;
  std::vector<std::string> reasons;
  if (!multiplies_in(choice, precision)) {
    reasons.push_back(
        fmt::format("{0} has no instructions for it; weights and inputs are rounded to {1} and multiplied as float32",
                    alone ? "oneDNN on this CPU" : "this CPU", to_string(precision)));
  }
  if (std::string rows = by_onednn != nullptr ? disagreement(*by_onednn) : ""; !rows.empty()) {
    reasons.push_back(std::move(rows));
    if (!alone) reasons.push_back("encdec's own kernels multiply instead");
  }
  if (reasons.empty()) return "";
  return fmt::format("precision {}: {}", to_string(precision), fmt::join(reasons, "; "));
}

}  // namespace encdec::backend
