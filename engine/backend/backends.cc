#include "encdec/engine/backend/backends.h"

#include <algorithm>
#include <cassert>

#include "encdec/engine/backend/packed_matrix.h"

namespace encdec::backend {
namespace {

using namespace kernels;

bool always() {
  return true;
}

template <auto set>
bool has() {
  return instruction_sets().*set;
}

template <auto kernel>
void by(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives&) {
  kernel(matrix.panels(), rows);
}

template <PanelSums::Weights type>
void by_panels(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives&) {
  multiply_panels(matrix.panels(), rows, {.weights = type});
}

// Multiplies with the tiles of AMX, or a few rows with VNNI. Every CPU with AMX has VNNI, and both read the same
// operands. The bits are equal because integer sums are exact.
void by_integer_tiles(const PackedMatrix& matrix, const MatMulRows& rows, MatMulPrimitives&) {
  constexpr int kFewRows = 4;
  (rows.count <= kFewRows ? multiply_bytes : multiply_int8_tiles)(matrix.panels(), rows);
}

using Cpu = InstructionSets;
constexpr auto kFloat32 = Precision::float32, kBfloat16 = Precision::bfloat16, kInt8 = Precision::int8;
constexpr auto kNarrow = PanelColumns::narrow, kWide = PanelColumns::wide;

// The best first. oneDNN is used for float32 only: with AMX, the bits that it computes for a row depend on the other
// rows.
constexpr Backend kBackends[] = {
    {"matrices",
     kBfloat16,
     has_matrix_products,
     {kNarrow, 4},
     InputForm::bfloat16,
     kNeonRowBytes,
     by<multiply_bfloat16_matrices>},
    {"matrices", kInt8, has_matrix_products, {kNarrow, 8}, InputForm::int8, kNeonRowBytes, by<multiply_int8_matrices>},
    {"dots", kInt8, has_neon, {kNarrow, 4}, InputForm::int8, kNeonRowBytes, by<multiply_dots>},
    {"tiles", kBfloat16, has<&Cpu::amx>, {kWide, 2}, InputForm::bfloat16, kTileRowBytes, by<multiply_bfloat16_tiles>},
    {"tiles", kInt8, has<&Cpu::amx>, {kWide, 4}, InputForm::uint8, kTileRowBytes, by_integer_tiles},
    {.name = "onednn",
     .precision = kFloat32,
     .can_run = has<&Cpu::avx512>,
     .panel_order = {kWide, 1},
     .multiply = multiply_by_onednn,
     .piece_rows = onednn_pieces,
     .trial = try_rows},
    {"pairs",
     kBfloat16,
     has<&Cpu::avx512_bfloat16>,
     {kWide, 2},
     InputForm::bfloat16,
     kProductsBytes,
     by<multiply_bfloat16_pairs>},
    {"bytes", kInt8, has<&Cpu::avx512_vnni>, {kWide, 4}, InputForm::uint8, kProductsBytes, by<multiply_bytes>},
    {"panels", kFloat32, always, {kNarrow, 1}, InputForm::float32, 4, by_panels<PanelSums::Weights::float32>},
    {"panels", kBfloat16, always, {kNarrow, 1}, InputForm::rounded_float32, 4, by_panels<PanelSums::Weights::bfloat16>},
    {"integers", kInt8, always, {kNarrow, 2}, InputForm::int16, 4, by<multiply_integers>},
};

template <class Suits>
const Backend& first_of(Precision precision, const Suits& suits) {
  const auto* found = std::ranges::find_if(kBackends, [&](const Backend& backend) {
    return backend.precision == precision && backend.can_run() && suits(backend);
  });
  assert(found != std::end(kBackends));
  return *found;
}

}  // namespace

int equal_pieces(const PackedMatrix&, std::int64_t remaining, std::int64_t) {
  constexpr int kMaxRows = 128;
  const std::int64_t pieces = (remaining + kMaxRows - 1) / kMaxRows;
  return static_cast<int>((remaining + pieces - 1) / pieces);
}

const Backend& best_backend(Precision precision) {
  return first_of(precision, [](const Backend&) { return true; });
}

const Backend& backend_for(Precision precision, int input_width) {
  return first_of(precision, [&](const Backend& backend) {
    return backend.trial == nullptr || backend.trial(backend, input_width).agrees;
  });
}

bool multiplies_in(Precision precision) {
  return best_backend(precision).input != InputForm::rounded_float32;
}

}  // namespace encdec::backend
