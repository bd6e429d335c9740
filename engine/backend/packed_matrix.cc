#include "encdec/engine/backend/packed_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <numeric>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"

namespace encdec::backend {
namespace {

using kernels::InputForm;

constexpr std::int32_t kInputZero = 128;  // zero point of inputs stored as unsigned bytes
// Maximum number of inputs for which a sum of products, each at most 255 * 127, fits an int32.
constexpr int kMaxIntegerWidth = 66'000;

// Calls body(Unit()), where Unit is an unsigned integer type with the size of a group.
template <class Body>
void with_unit_of(std::size_t group_bytes, const Body& body) {
  switch (group_bytes) {
    case 1: return body(std::uint8_t());
    case 2: return body(std::uint16_t());
    case 4: return body(std::uint32_t());
    case 8: return body(std::uint64_t());
    default: assert(false);
  }
}

template <class Unit>
void copy_column(const std::byte* from, std::size_t from_column, std::size_t row_bytes, std::size_t width,
                 std::size_t to_column, std::byte* to) {
  from += from_column * sizeof(Unit);
  to += to_column * sizeof(Unit);
  for (std::size_t at = 0; at < row_bytes * width; at += width * sizeof(Unit)) {
    std::memcpy(to + at, from + at, sizeof(Unit));
  }
}

constexpr std::size_t kLineBytes = 64;

// Interleaves `width` rows to a panel: unit 0 of all rows, then unit 1 of all rows, and so on.
template <class Unit>
void interleave(const std::byte* rows, std::size_t row_bytes, std::size_t stride, std::size_t width, std::byte* panel) {
  const std::size_t units = row_bytes / sizeof(Unit);
  constexpr std::size_t kBlock = kLineBytes / sizeof(Unit);  // number of units in a cache line
  for (std::size_t first = 0; first < units; first += kBlock) {
    const std::size_t last = std::min(first + kBlock, units);
    for (std::size_t unit = first; unit < last; ++unit) {
      std::byte* to = panel + unit * width * sizeof(Unit);
      for (std::size_t row = 0; row < width; ++row) {
        std::memcpy(to + row * sizeof(Unit), rows + row * stride + unit * sizeof(Unit), sizeof(Unit));
      }
    }
  }
}

// Copies a column of a panel to a dense row. This is the inverse of interleave().
template <class Unit>
void pick_row(const std::byte* panel, std::size_t row_bytes, std::size_t width, std::size_t column, std::byte* row) {
  for (std::size_t unit = 0; unit < row_bytes / sizeof(Unit); ++unit) {
    std::memcpy(row + unit * sizeof(Unit), panel + (unit * width + column) * sizeof(Unit), sizeof(Unit));
  }
}

// A byte holds two weights of 4 bits. The lower halves of a group's bytes hold the codes of one
// group of inputs, the upper halves the codes of the next group.
constexpr std::size_t kBlockBytes = kernels::kNibbleBlock / 2;

// Calls body(byte, lower, upper) for each byte of a block. `lower` and `upper` are the indices of its weights.
template <class Body>
void for_each_pair(std::size_t group, const Body& body) {
  for (std::size_t first = 0; first < kBlockBytes; first += group) {
    for (std::size_t i = 0; i < group; ++i) body(first + i, 2 * first + i, 2 * first + group + i);
  }
}

// Offsets of the parts of a packed matrix: panels, steps, scales, zero-point offsets. Each part is aligned to a cache
// line.
struct Layout {
  explicit Layout(const MatMulSpec& spec) : stored(spec.backend->stored), order(spec.backend->panel_order) {
    const bool is_integer = stored == DataType::int8 || is_nibbles();
    if (is_integer && spec.input_width > kMaxIntegerWidth) {
      throw BackendError(fmt::format("{} matmul of {} inputs, expected at most {}: use bfloat16 or float32",
                                     to_string(spec.backend->precision), spec.input_width, kMaxIntegerWidth));
    }
    blocks = (static_cast<std::size_t>(spec.input_width) + kernels::kNibbleBlock - 1) / kernels::kNibbleBlock;
    row_bytes = is_nibbles() ? blocks * kBlockBytes : order.padded_rows(spec.input_width) * size_of(stored);
    panel_bytes = order.width() * row_bytes;
    panels = order.panels(spec.output_width);
    bytes = panels * panel_bytes;
    const auto add = [&](std::size_t size) {
      const std::size_t first = Tensor::aligned(bytes);
      bytes = first + size;
      return first;
    };
    if (is_nibbles()) steps = add(panels * order.width() * blocks);
    if (is_integer) scales = add(static_cast<std::size_t>(spec.output_width) * 4);
    if (is_integer && spec.backend->input == InputForm::uint8) {
      offsets = add(static_cast<std::size_t>(spec.output_width) * 4);
    }
  }

  bool is_nibbles() const { return stored == DataType::uint8; }
  // Returns the index of the step of a column's block.
  std::size_t step_of(std::size_t column, std::size_t block) const {
    return (column / order.width() * blocks + block) * order.width() + column % order.width();
  }
  std::size_t unit_bytes() const { return size_of(stored) * static_cast<std::size_t>(order.group); }

  DataType stored;
  kernels::PanelOrder order;
  std::size_t row_bytes = 0;
  std::size_t panel_bytes = 0;
  std::size_t panels = 0;
  std::size_t blocks = 0;   // number of blocks of a column, for weights of 4 bits
  std::size_t steps = 0;    // offset of the steps [panels, blocks, columns], for weights of 4 bits
  std::size_t scales = 0;   // offset of the scales [N], for int8 and int4; 0 for other precisions
  std::size_t offsets = 0;  // offset of kInputZero * (sum of an output's weights) [N], for InputForm::uint8
  std::size_t bytes = 0;    // total size
};

}  // namespace

Tensor PackedMatrix::reserve(const MatMulSpec& spec, WeightMemory* memory) {
  const Layout layout(spec);
  Tensor packed = memory != nullptr ? memory->take(layout.bytes) : Tensor::of_bytes(layout.bytes);
  // Zero the gaps between the parts, so that equal weights give equal bytes.
  std::fill(packed.raw() + layout.panel_bytes * layout.panels, packed.raw() + layout.bytes, std::byte{0});
  return packed;
}

void PackedMatrix::pack(const MatMulSpec& spec, Dim first, Dim last, const WeightRows& weight, Tensor& packed) {
  const Layout layout(spec);
  auto* scales = reinterpret_cast<float*>(packed.raw() + layout.scales);
  auto* offsets = reinterpret_cast<std::int32_t*>(packed.raw() + layout.offsets);
  auto* steps = reinterpret_cast<std::int8_t*>(packed.raw() + layout.steps);
  const auto width = static_cast<Dim>(layout.order.width());
  const auto inputs = static_cast<std::size_t>(spec.input_width);
  std::vector<float> given(static_cast<std::size_t>(kernels::kWideColumns) * inputs);
  std::array<float, kernels::kWideColumns> factors{};
  // Pad each row by a cache line, because rows of 2^n bytes would evict each other from the L1 cache.
  const std::size_t stride = layout.row_bytes + kLineBytes;
  std::vector<std::byte> converted(layout.order.width() * stride);
  const auto group = static_cast<std::size_t>(layout.order.group);
  std::vector<std::uint8_t> codes(layout.is_nibbles() ? layout.blocks * kernels::kNibbleBlock : 0);
  std::vector<std::int8_t> row_steps(layout.blocks);
  for (; first < last; first += width) {
    check_cancelled();
    // Request kWideColumns rows at once, even if panels are narrower.
    const Dim before = first % kernels::kWideColumns;
    if (before == 0) weight(first, std::min<Dim>(kernels::kWideColumns, last - first), given.data(), factors.data());
    const Dim count = std::min(width, last - first);
    if (count < width) std::ranges::fill(converted, std::byte{0});
    for (Dim row = 0; row < count; ++row) {
      const float* from = given.data() + static_cast<std::size_t>(before + row) * inputs;
      std::byte* to = converted.data() + static_cast<std::size_t>(row) * stride;
      const auto output = static_cast<std::size_t>(first + row);
      // `sum` adds up the integer weights, for the offset of unsigned inputs.
      std::int32_t sum = 0;
      if (layout.is_nibbles()) {
        scales[output] = kernels::quantize_nibbles(from, spec.input_width, codes.data(), row_steps.data());
        for (std::size_t block = 0; block < layout.blocks; ++block) {
          const std::uint8_t* code = codes.data() + block * kernels::kNibbleBlock;
          for_each_pair(group, [&](std::size_t byte, std::size_t lower, std::size_t upper) {
            to[byte] = static_cast<std::byte>(code[lower] | code[upper] << 4);
          });
          to += kBlockBytes;
          steps[layout.step_of(output, block)] = row_steps[block];
          sum += row_steps[block] * std::accumulate(code, code + kernels::kNibbleBlock, -8 * kernels::kNibbleBlock);
        }
      } else if (layout.stored == DataType::int8) {
        auto* integers = reinterpret_cast<std::int8_t*>(to);
        const float factor = factors[static_cast<std::size_t>(before + row)];
        scales[output] = kernels::quantize_weights(from, spec.input_width, factor, integers);
        for (std::size_t i = 0; i < inputs; ++i) sum += integers[i];
      } else if (layout.stored == DataType::float16) {
        kernels::convert_to_float16(from, spec.input_width, reinterpret_cast<std::uint16_t*>(to));
      } else {
        kernels::convert_row(layout.stored == DataType::bfloat16 ? InputForm::bfloat16 : spec.backend->input, from,
                             spec.input_width, to);
      }
      if (layout.offsets != 0) offsets[output] = kInputZero * sum;
    }
    std::byte* to = packed.raw() + static_cast<std::size_t>(first / width) * layout.panel_bytes;
    with_unit_of(layout.unit_bytes(), [&](auto unit) {
      interleave<decltype(unit)>(converted.data(), layout.row_bytes, stride, layout.order.width(), to);
    });
  }
}

std::size_t PackedMatrix::packed_bytes(const MatMulSpec& spec) {
  return Layout(spec).bytes;
}

PackedMatrix::PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias)
    : PackedMatrix(spec, std::move(packed), bias,
                   spec.backend->trial != nullptr
                       ? spec.backend->trial(*spec.backend, spec.input_width, spec.output_width)
                       : RowTrial()) {}

PackedMatrix::PackedMatrix(const MatMulSpec& spec, Tensor packed, const float* bias, const RowTrial& trial)
    : spec_(spec),
      packed_(std::move(packed)),
      panels_{.panels = packed_.raw(),
              .input_width = spec.input_width,
              .output_width = spec.output_width,
              .epilogue = {.activation = spec.activation}},
      trial_(trial) {
  const Layout layout(spec);
  assert(packed_.bytes() == layout.bytes);
  kernels::MatMulEpilogue& epilogue = panels_.epilogue;
  if (bias != nullptr) {
    bias_ = Tensor::uninitialized({spec.output_width});
    epilogue.bias = bias_.data<float>();
    std::copy_n(bias, spec.output_width, bias_.data<float>());
  }
  if (layout.steps != 0) panels_.steps = reinterpret_cast<const std::int8_t*>(packed_.raw() + layout.steps);
  if (layout.scales != 0) epilogue.column_scales = reinterpret_cast<const float*>(packed_.raw() + layout.scales);
  if (layout.offsets != 0) epilogue.offsets = reinterpret_cast<const std::int32_t*>(packed_.raw() + layout.offsets);
}

PackedMatrix::PackedMatrix(const MatMulSpec& spec, std::span<const Output> outputs)
    : PackedMatrix(spec, reserve(spec), nullptr, outputs.front().matrix->trial()) {
  const Layout layout(spec);
  auto* scales = reinterpret_cast<float*>(packed_.raw() + layout.scales);
  auto* offsets = reinterpret_cast<std::int32_t*>(packed_.raw() + layout.offsets);
  auto* steps = reinterpret_cast<std::int8_t*>(packed_.raw() + layout.steps);
  if (!outputs.front().matrix->bias_.empty()) bias_ = Tensor::uninitialized({spec.output_width});
  panels_.epilogue.bias = bias_.empty() ? nullptr : bias_.data<float>();
  // Zero the last panel, because some of its columns may be unused.
  std::fill(packed_.raw() + layout.panel_bytes * (layout.panels - 1),
            packed_.raw() + layout.panel_bytes * layout.panels, std::byte{0});
  const std::size_t width = layout.order.width();
  // Copy each output: its column of the panel, steps, scale, offset and bias.
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [matrix, number] = outputs[i];
    const auto column = static_cast<std::size_t>(number);
    const std::byte* from = matrix->packed_.raw() + column / width * layout.panel_bytes;
    std::byte* to = packed_.raw() + i / width * layout.panel_bytes;
    with_unit_of(layout.unit_bytes(), [&](auto unit) {
      copy_column<decltype(unit)>(from, column % width, layout.row_bytes, width, i % width, to);
    });
    for (std::size_t block = 0; layout.steps != 0 && block < layout.blocks; ++block) {
      steps[layout.step_of(i, block)] = matrix->panels_.steps[layout.step_of(column, block)];
    }
    if (layout.scales != 0) scales[i] = matrix->panels_.epilogue.column_scales[number];
    if (layout.offsets != 0) offsets[i] = matrix->panels_.epilogue.offsets[number];
    if (!bias_.empty()) bias_.data<float>()[i] = matrix->bias_.data<float>()[number];
  }
}

std::size_t PackedMatrix::input_row_bytes() const {
  const std::size_t bytes = static_cast<std::size_t>(spec_.input_width) * element_bytes(spec_.backend->input);
  const std::size_t unit = spec_.backend->input_unit;
  return (bytes + unit - 1) / unit * unit;
}

void PackedMatrix::copy_row(int output, float* row) const {
  const Layout layout(spec_);
  const auto index = static_cast<std::size_t>(output), width = layout.order.width();
  const std::byte* panel = packed_.raw() + index / width * layout.panel_bytes;
  // Use a buffer on the stack, because glibc aborts if it cannot allocate a thread_local buffer.
  std::array<std::byte, 1024> stored;
  const int chunk = static_cast<int>(stored.size() * (layout.is_nibbles() ? 2 : 1) / size_of(layout.stored));
  std::size_t before = 0;
  for (int first = 0; first < spec_.input_width; first += chunk, row += chunk, before += stored.size()) {
    with_unit_of(layout.unit_bytes(), [&](auto unit) {
      pick_row<decltype(unit)>(panel + before * width, std::min(stored.size(), layout.row_bytes - before), width,
                               index % width, stored.data());
    });
    // Convert to floats.
    const int count = std::min(chunk, spec_.input_width - first);
    const float scale = layout.scales != 0 ? panels_.epilogue.column_scales[output] : 1.0f;
    if (layout.is_nibbles()) {
      for (int block = 0; block * kernels::kNibbleBlock < count; ++block) {
        const auto all = static_cast<std::size_t>(first / kernels::kNibbleBlock + block);
        const int step = panels_.steps[layout.step_of(index, all)];
        std::array<float, kernels::kNibbleBlock> weights;
        const std::byte* codes = stored.data() + static_cast<std::size_t>(block) * kBlockBytes;
        for_each_pair(static_cast<std::size_t>(layout.order.group), [&](std::size_t byte, std::size_t lower,
                                                                        std::size_t upper) {
          weights[lower] = static_cast<float>((std::to_integer<int>(codes[byte] & std::byte{15}) - 8) * step) * scale;
          weights[upper] = static_cast<float>((std::to_integer<int>(codes[byte] >> 4) - 8) * step) * scale;
        });
        std::copy_n(weights.data(), std::min(kernels::kNibbleBlock, count - block * kernels::kNibbleBlock),
                    row + block * kernels::kNibbleBlock);
      }
    } else if (layout.stored == DataType::int8) {
      for (int i = 0; i < count; ++i) {
        row[i] = static_cast<float>(static_cast<std::int8_t>(stored[static_cast<std::size_t>(i)])) * scale;
      }
    } else {
      copy_as_float(Tensor(stored.data(), layout.stored, {count}), 0, count, row);
    }
  }
}

}  // namespace encdec::backend
