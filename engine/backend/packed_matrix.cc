#include "encdec/engine/backend/packed_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <vector>

#include "encdec/engine/error.h"
#include "encdec/engine/kernels/integer_matmul.h"
#include "encdec/engine/kernels/neon_matmul.h"
#include "encdec/engine/kernels/panel_matmul.h"
#include "encdec/engine/kernels/tile_matmul.h"
#include "encdec/engine/kernels/vnni_matmul.h"

namespace encdec::backend {
namespace {

using kernels::InputForm;
using kernels::PanelColumns;
using kernels::PanelOrder;

// In what chunks our own matmul sums: 32 KiB of a panel stay in the nearest caches while one tile after the other uses
// them, and few enough sums are interrupted.
constexpr int kChunk = 512;
// Zero of inputs that are kept as unsigned bytes.
constexpr std::int32_t kInputZero = 128;
// So many products of 255 and 127 fit an int32.
constexpr int kMaxIntegerWidth = 66'000;

PanelOrder order_for(Carrier carrier, Precision precision) {
  if (carrier == Carrier::dots) return {PanelColumns::narrow, 4};
  if (carrier == Carrier::matrices) return {PanelColumns::narrow, precision == Precision::int8 ? 8 : 4};
  const bool wide = carrier == Carrier::onednn || carrier == Carrier::tiles;
  switch (precision) {
    case Precision::float32: return {wide ? PanelColumns::wide : PanelColumns::narrow, 1};
    case Precision::bfloat16: return {wide ? PanelColumns::wide : PanelColumns::narrow, wide ? 2 : 1};
    case Precision::int8: return {wide ? PanelColumns::wide : PanelColumns::narrow, wide ? 4 : 2};
    case Precision::automatic: break;
  }
  return {};
}

// Calls body(Unit()): a number of as many bytes as a group has.
template <class Body>
void with_unit_of(std::size_t group_bytes, const Body& body) {
  switch (group_bytes) {
    case 2: return body(std::uint16_t());
    case 4: return body(std::uint32_t());
    case 8: return body(std::uint64_t());
    default: assert(false);
  }
}

// Rows of groups -> groups of rows: what a panel is, seen as units of a group each.
template <class Unit>
void interleave(const std::byte* rows, std::size_t row_bytes, std::size_t width, std::byte* panel) {
  const std::size_t units = row_bytes / sizeof(Unit);
  constexpr std::size_t kBlock = 64 / sizeof(Unit);  // a cache line of each row at a time
  for (std::size_t first = 0; first < units; first += kBlock) {
    const std::size_t last = std::min(first + kBlock, units);
    for (std::size_t unit = first; unit < last; ++unit) {
      std::byte* to = panel + unit * width * sizeof(Unit);
      for (std::size_t row = 0; row < width; ++row) {
        std::memcpy(to + row * sizeof(Unit), rows + row * row_bytes + unit * sizeof(Unit), sizeof(Unit));
      }
    }
  }
}

template <class Unit>
void pick_row(const std::byte* panel, std::size_t row_bytes, std::size_t width, std::size_t column, std::byte* row) {
  for (std::size_t unit = 0; unit < row_bytes / sizeof(Unit); ++unit) {
    std::memcpy(row + unit * sizeof(Unit), panel + (unit * width + column) * sizeof(Unit), sizeof(Unit));
  }
}

// In what form the kernels take inputs.
InputForm input_form_for(Carrier carrier, Precision precision) {
  switch (precision) {
    case Precision::float32: return InputForm::float32;
    case Precision::bfloat16: return carrier == Carrier::panels ? InputForm::rounded_float32 : InputForm::bfloat16;
    case Precision::int8:
      if (carrier == Carrier::integers) return InputForm::int16;
      return carrier == Carrier::dots || carrier == Carrier::matrices ? InputForm::int8 : InputForm::uint8;
    case Precision::automatic: break;
  }
  return InputForm::float32;
}

// Where the parts of a packed matrix lie: panels, scales, offsets, each at the beginning of a cache line.
struct Layout {
  explicit Layout(const MatMulSpec& spec) {
    const Carrier carrier = carrier_for(spec.precision, spec.input_width);
    if (spec.precision == Precision::int8 && spec.input_width > kMaxIntegerWidth) {
      throw BackendError(fmt::format("int8 matmul of {} inputs, expected at most {}: use bfloat16 or float32",
                                     spec.input_width, kMaxIntegerWidth));
    }
    order = order_for(carrier, spec.precision);
    row_bytes = order.padded_rows(spec.input_width) * weight_bytes(spec.precision);
    panel_bytes = order.width() * row_bytes;
    panels = order.panels(spec.output_width);
    bytes = panels * panel_bytes;
    if (spec.precision != Precision::int8) return;
    const auto add = [&] {
      const std::size_t first = (bytes + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
      bytes = first + static_cast<std::size_t>(spec.output_width) * 4;
      return first;
    };
    scales = add();
    if (input_form_for(carrier, spec.precision) == InputForm::uint8) offsets = add();
  }

  PanelOrder order;
  std::size_t row_bytes = 0;
  std::size_t panel_bytes = 0;
  std::size_t panels = 0;
  std::size_t scales = 0;   // 0 where there are none
  std::size_t offsets = 0;  // 0 where there are none
  std::size_t bytes = 0;    // of all
};

}  // namespace

Carrier best_carrier(Precision precision) {
  const InstructionSets& cpu = instruction_sets();
  switch (precision) {
    case Precision::float32: return cpu.avx512 ? Carrier::onednn : Carrier::panels;
    case Precision::bfloat16:
      if (kernels::has_matrix_products()) return Carrier::matrices;
      // oneDNN's matmul on tiles gives a row other bits in other company.
      return cpu.amx ? Carrier::tiles : cpu.avx512_bfloat16 ? Carrier::onednn : Carrier::panels;
    case Precision::int8:
      if (kernels::has_neon()) return kernels::has_matrix_products() ? Carrier::matrices : Carrier::dots;
      return cpu.amx ? Carrier::tiles : cpu.avx512_vnni ? Carrier::onednn : Carrier::integers;
    case Precision::automatic: break;
  }
  return Carrier::panels;
}

Carrier carrier_for(Precision precision, int input_width) {
  const Carrier best = best_carrier(precision);
  const bool must_agree = best == Carrier::onednn && precision != Precision::int8;
  return must_agree && !try_rows(precision, input_width).agrees ? Carrier::panels : best;
}

bool multiplies_in(Precision precision) {
  return precision != Precision::bfloat16 || best_carrier(precision) != Carrier::panels;
}

Tensor PackedMatrix::pack(const MatMulSpec& spec, const WeightRows& weight) {
  const Layout layout(spec);
  Tensor packed = Tensor::uninitialized({static_cast<Dim>(layout.bytes)}, DataType::uint8);
  // What lies between the parts is zero, so that equal weights give equal bytes.
  std::fill(packed.raw() + layout.panel_bytes * layout.panels, packed.raw() + layout.bytes, std::byte{0});
  auto* scales = reinterpret_cast<float*>(packed.raw() + layout.scales);
  auto* offsets = reinterpret_cast<std::int32_t*>(packed.raw() + layout.offsets);
  const std::size_t width = layout.order.width();
  const auto inputs = static_cast<std::size_t>(spec.input_width);
  std::vector<float> given(width * inputs);
  std::vector<std::byte> converted(layout.panel_bytes);
  for (std::size_t panel = 0; panel < layout.panels; ++panel) {
    const auto first = static_cast<Dim>(panel * width);
    const Dim count = std::min(static_cast<Dim>(width), spec.output_width - first);
    weight(first, count, given.data());
    if (count < static_cast<Dim>(width)) std::ranges::fill(converted, std::byte{0});
    for (Dim row = 0; row < count; ++row) {
      const float* from = given.data() + static_cast<std::size_t>(row) * inputs;
      std::byte* to = converted.data() + static_cast<std::size_t>(row) * layout.row_bytes;
      if (spec.precision == Precision::int8) {
        auto* integers = reinterpret_cast<std::int8_t*>(to);
        scales[first + row] = kernels::quantize_weights(from, spec.input_width, integers);
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < inputs; ++i) sum += integers[i];
        if (layout.offsets != 0) offsets[first + row] = kInputZero * sum;
      } else {
        kernels::convert_row(spec.precision == Precision::float32 ? InputForm::float32 : InputForm::bfloat16, from,
                             spec.input_width, to);
      }
    }
    std::byte* to = packed.raw() + panel * layout.panel_bytes;
    with_unit_of(weight_bytes(spec.precision) * static_cast<std::size_t>(layout.order.group),
                 [&](auto unit) { interleave<decltype(unit)>(converted.data(), layout.row_bytes, width, to); });
  }
  return packed;
}

std::size_t PackedMatrix::packed_bytes(const MatMulSpec& spec) {
  return Layout(spec).bytes;
}

PackedMatrix::PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias)
    : spec_(spec),
      carrier_(carrier_for(spec.precision, spec.input_width)),
      order_(order_for(carrier_, spec.precision)),
      packed_(std::move(packed)) {
  const Layout layout(spec);
  assert(packed_.bytes() == layout.bytes);
  if (layout.scales != 0) scales_ = reinterpret_cast<const float*>(packed_.raw() + layout.scales);
  if (layout.offsets != 0) offsets_ = reinterpret_cast<const std::int32_t*>(packed_.raw() + layout.offsets);
  if (spec.bias) {
    bias_ = Tensor::uninitialized({spec.output_width});
    std::copy_n(bias, spec.output_width, bias_.data<float>());
  }
  if (carrier_ == Carrier::onednn && spec.precision != Precision::int8) {
    trial_ = try_rows(spec.precision, spec.input_width);
  }
}

void PackedMatrix::copy_row(int output, float* row) const {
  const std::size_t element = weight_bytes(spec_.precision);
  const std::size_t row_bytes = order_.padded_rows(spec_.input_width) * element;
  const auto index = static_cast<std::size_t>(output);
  const std::byte* panel = packed_.raw() + index / order_.width() * order_.width() * row_bytes;
  const std::size_t column = index % order_.width();
  thread_local std::vector<std::byte> stored;  // grows to the widest row
  stored.resize(std::max(stored.size(), row_bytes));
  with_unit_of(element * static_cast<std::size_t>(order_.group),
               [&](auto unit) { pick_row<decltype(unit)>(panel, row_bytes, order_.width(), column, stored.data()); });
  switch (spec_.precision) {
    case Precision::float32: std::memcpy(row, stored.data(), static_cast<std::size_t>(spec_.input_width) * 4); break;
    case Precision::bfloat16:
      copy_as_float(Tensor(stored.data(), DataType::bfloat16, {spec_.input_width}), 0, spec_.input_width, row);
      break;
    case Precision::int8:
      for (int i = 0; i < spec_.input_width; ++i) {
        row[i] = static_cast<float>(static_cast<std::int8_t>(stored[static_cast<std::size_t>(i)])) * scales_[output];
      }
      break;
    case Precision::automatic: break;
  }
}

InputForm PackedMatrix::input_form() const {
  return input_form_for(carrier_, spec_.precision);
}

std::size_t PackedMatrix::input_row_bytes() const {
  const std::size_t bytes = static_cast<std::size_t>(spec_.input_width) * element_bytes(input_form());
  std::size_t unit = 1;
  switch (carrier_) {
    case Carrier::onednn:
    case Carrier::panels: break;
    case Carrier::integers: unit = 4; break;
    case Carrier::tiles: unit = kernels::kTileRowBytes; break;
    case Carrier::dots:
    case Carrier::matrices: unit = kernels::kNeonRowBytes; break;
  }
  return (bytes + unit - 1) / unit * unit;
}

std::size_t PackedMatrix::bytes() const {
  return packed_.bytes() + (bias_.empty() ? 0 : bias_.bytes());
}

kernels::MatMulEpilogue PackedMatrix::epilogue() const {
  return {.bias = bias_.empty() ? nullptr : bias_.data<float>(),
          .column_scales = scales_,
          .offsets = offsets_,
          .activation = spec_.activation};
}

kernels::OutputRows PackedMatrix::output_rows(const MatMulRows& rows) const {
  return {.residual = rows.residual, .output = rows.output, .stride = rows.stride, .row_scales = rows.scales};
}

// Activations other than relu are left to our own kernels, so that one row, which they may carry, gets the same bits.
PrimitiveSpec PackedMatrix::primitive_spec() const {
  const bool integers = spec_.precision == Precision::int8;
  const bool all = spec_.activation == Activation::identity || spec_.activation == Activation::relu;
  return {.input_width = spec_.input_width,
          .output_width = spec_.output_width,
          .precision = spec_.precision,
          .bias = spec_.bias && !integers,
          .relu = spec_.activation == Activation::relu && !integers,
          .residual = spec_.residual && all && !integers};
}

void PackedMatrix::multiply(const MatMulRows& rows, MatMulPrimitives& primitives) const {
  // Whoever carries the matrix: sums of integers are the same.
  if (spec_.precision == Precision::int8 && instruction_sets().avx512_vnni && rows.count <= kernels::kMostVnniRows) {
    return kernels::multiply_few_rows({.panels = reinterpret_cast<const std::int8_t*>(packed_.raw()),
                                       .input_width = spec_.input_width,
                                       .output_width = spec_.output_width,
                                       .epilogue = epilogue()},
                                      {.count = rows.count,
                                       .input = reinterpret_cast<const std::uint8_t*>(rows.input),
                                       .input_bytes = input_row_bytes(),
                                       .output = output_rows(rows)});
  }
  switch (carrier_) {
    case Carrier::onednn:
      if (trial_.chunk != 0 && is_for_panels(rows.count)) return run_panels(rows);
      if (rows.count == 1 && spec_.precision != Precision::int8 && !trial_.one_row_agrees) {
        return run_one_row(rows, primitives);
      }
      return run_primitive(rows, primitives);
    case Carrier::panels: return run_panels(rows);
    case Carrier::integers:
      return kernels::multiply_integers({.panels = reinterpret_cast<const std::int8_t*>(packed_.raw()),
                                         .input_width = spec_.input_width,
                                         .output_width = spec_.output_width,
                                         .epilogue = epilogue()},
                                        {.count = rows.count,
                                         .input = reinterpret_cast<const std::int16_t*>(rows.input),
                                         .input_stride = static_cast<std::ptrdiff_t>(input_row_bytes() / 2),
                                         .output = output_rows(rows)});
    case Carrier::tiles:
      return kernels::multiply_tiles(
          {.panels = packed_.raw(),
           .type = spec_.precision == Precision::int8 ? kernels::TileWeights::int8 : kernels::TileWeights::bfloat16,
           .input_width = spec_.input_width,
           .output_width = spec_.output_width,
           .epilogue = epilogue()},
          {.count = rows.count, .input = rows.input, .input_bytes = input_row_bytes(), .output = output_rows(rows)});
    case Carrier::dots:
    case Carrier::matrices: {
      const auto multiply = carrier_ == Carrier::dots ? kernels::multiply_dots : kernels::multiply_matrices;
      return multiply(
          {.panels = packed_.raw(),
           .type = spec_.precision == Precision::int8 ? kernels::NeonWeights::int8 : kernels::NeonWeights::bfloat16,
           .input_width = spec_.input_width,
           .output_width = spec_.output_width,
           .epilogue = epilogue()},
          {.count = rows.count, .input = rows.input, .input_bytes = input_row_bytes(), .output = output_rows(rows)});
    }
  }
}

// Where our own kernel is faster than oneDNN's on AVX-512, because it reads weights ahead of their use: measured with
// weights in memory, 17 to 19 GB/s against 15 for up to three rows, and 5 to 20 % less time for the other numbers.
bool PackedMatrix::is_for_panels(int rows) const {
  const int fewest = spec_.input_width <= 1024 ? 7 : 24;
  return rows <= 3 || (rows >= fewest && rows <= 64);
}

void PackedMatrix::run_panels(const MatMulRows& rows) const {
  kernels::multiply_panels(
      {.panels = packed_.raw(),
       .type =
           spec_.precision == Precision::bfloat16 ? kernels::PanelWeights::bfloat16 : kernels::PanelWeights::float32,
       .input_width = spec_.input_width,
       .output_width = spec_.output_width,
       .chunk = carrier_ == Carrier::onednn ? trial_.chunk : kChunk,
       .columns = order_.columns,
       .epilogue = epilogue()},
      {.count = rows.count, .input = reinterpret_cast<const float*>(rows.input), .output = output_rows(rows)});
}

void PackedMatrix::run_primitive(const MatMulRows& rows, MatMulPrimitives& primitives) const {
  const PrimitiveSpec primitive = primitive_spec();
  const bool integers = spec_.precision == Precision::int8;
  assert(integers || rows.count == 1 || rows.stride == spec_.output_width);
  std::int32_t* sums =
      integers ? reinterpret_cast<std::int32_t*>(primitives.scratch(static_cast<std::size_t>(rows.count) *
                                                                    static_cast<std::size_t>(spec_.output_width) * 4))
               : nullptr;
  primitives.run(primitive, {.rows = rows.count,
                             .input = rows.input,
                             .weights = packed_.raw(),
                             .bias = bias_.empty() ? nullptr : bias_.data<float>(),
                             .residual = rows.residual,
                             .output = integers ? static_cast<void*>(sums) : rows.output});
  if (integers) {
    kernels::finish_sums(epilogue(),
                         kernels::SumsBlock<std::int32_t>{sums, spec_.output_width, rows.count, 0, spec_.output_width},
                         output_rows(rows));
  } else if (spec_.activation != Activation::identity && !primitive.relu) {
    kernels::finish_sums({.activation = spec_.activation},
                         kernels::SumsBlock<float>{rows.output, rows.stride, rows.count, 0, spec_.output_width},
                         output_rows(rows));
  }
}

// As the first of two equal rows, where one alone would get other bits.
void PackedMatrix::run_one_row(const MatMulRows& row, MatMulPrimitives& primitives) const {
  const auto outputs = static_cast<std::size_t>(spec_.output_width);
  const std::size_t input_bytes = input_row_bytes(), output_bytes = outputs * sizeof(float);
  std::byte* scratch = primitives.scratch(2 * (input_bytes + 2 * output_bytes));
  const auto twice = [](const void* from, std::size_t bytes, std::byte* to) {
    std::memcpy(to, from, bytes);
    std::memcpy(to + bytes, from, bytes);
  };
  std::byte* const output = scratch;
  std::byte* const residual = output + 2 * output_bytes;
  std::byte* const input = residual + 2 * output_bytes;
  twice(row.input, input_bytes, input);
  if (row.residual != nullptr) twice(row.residual, output_bytes, residual);
  run_primitive({.count = 2,
                 .input = input,
                 .residual = row.residual != nullptr ? reinterpret_cast<const float*>(residual) : nullptr,
                 .output = reinterpret_cast<float*>(output),
                 .stride = spec_.output_width},
                primitives);
  std::memcpy(row.output, output, output_bytes);
}

std::string PackedMatrix::implementation(int rows, MatMulPrimitives& primitives) const {
  switch (carrier_) {
    case Carrier::onednn: return primitives.implementation(primitive_spec(), rows);
    case Carrier::tiles: return "encdec:amx";
    case Carrier::dots: return std::string("encdec:") + kernels::dot_instruction();
    case Carrier::matrices: return spec_.precision == Precision::int8 ? "encdec:smmla" : "encdec:bfmmla";
    case Carrier::panels:
    case Carrier::integers: return "encdec:" + kernels::vector_target();
  }
  return "";
}

}  // namespace encdec::backend
