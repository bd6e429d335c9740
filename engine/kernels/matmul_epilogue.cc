#include "encdec/engine/kernels/matmul_epilogue.h"

#include <algorithm>
#include <cctype>

#include "encdec/engine/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/matmul_epilogue.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per instruction set
#include <hwy/highway.h>
// Include these headers after highway.h.
#include "encdec/engine/kernels/functions_inl.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
// Number of vectors of columns that are processed together. Their scales, offsets and biases fill the registers.
constexpr int kVectorsAtOnce = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM ? 4 : 2;

HWY_NOINLINE V activated(Activation activation, V x) {
  return activate(activation, D(), x);
}

// Constants of a vector of columns. value() turns accumulators into outputs before the activation.
template <class T>
struct Columns;

template <>
struct Columns<float> {
  V bias;

  // This constructor is written out, because gcc compiles an implicit constructor without the target's instructions.
  HWY_INLINE Columns() {}
  HWY_INLINE void read(const MatMulEpilogue& epilogue, int first, int count) {
    bias = epilogue.bias != nullptr ? load_some(D(), epilogue.bias + first, count) : hn::Set(D(), -0.0f);
  }
  HWY_INLINE V value(const float* sums, V /*row_scale*/, int count) const {
    return hn::Add(load_some(D(), sums, count), bias);
  }
};

template <>
struct Columns<std::int32_t> {
  using Integers = hn::RebindToSigned<D>;
  Columns<float> floats;
  V scales;
  hn::Vec<Integers> offsets;

  HWY_INLINE Columns() {}
  HWY_INLINE void read(const MatMulEpilogue& epilogue, int first, int count) {
    floats.read(epilogue, first, count);
    scales = load_some(D(), epilogue.column_scales + first, count);
    offsets =
        epilogue.offsets != nullptr ? load_some(Integers(), epilogue.offsets + first, count) : hn::Zero(Integers());
  }
  HWY_INLINE V value(const std::int32_t* sums, V row_scale, int count) const {
    const auto integers = hn::Sub(load_some(Integers(), sums, count), offsets);
    return hn::Add(hn::Mul(hn::ConvertTo(D(), integers), hn::Mul(row_scale, scales)), floats.bias);
  }
};

// Finishes kVectors vectors of columns in all rows, starting at column `i` of the block. Reads the columns' constants
// once. `count` is the number of columns in each vector.
template <int kVectors, class T, class Activate>
HWY_INLINE void finish_columns(const MatMulEpilogue& epilogue, const AccumulatorBlock<T>& block, const OutputRows& rows,
                               int i, int count, const Activate& activate) {
  const D d;
  const int column = block.first_column + i;
  Columns<T> columns[kVectors];
  ENCDEC_UNROLL
  for (int v = 0; v < kVectors; ++v) columns[v].read(epilogue, column + v * kLanes, count);
  // Use local copies, because the compiler must assume that a store changes members.
  const T* sums = block.sums + i;
  const float* row_scales = rows.row_scales;
  const float* residual = rows.residual != nullptr ? rows.residual + column : nullptr;
  float* output = rows.output + column;
  const std::ptrdiff_t sums_stride = block.stride, stride = rows.stride;
  for (int row = 0, end = block.rows; row < end; ++row) {
    const V row_scale = hn::Set(d, row_scales != nullptr ? row_scales[row] : 1.0f);
    ENCDEC_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int at = v * kLanes;
      V y = activate(columns[v].value(sums + at, row_scale, count));
      if (residual != nullptr) y = hn::Add(y, load_some(d, residual + at, count));
      store_some(y, d, output + at, count);
    }
    sums += sums_stride;
    output += stride;
    if (residual != nullptr) residual += stride;
  }
}

template <class T>
void finish_block(const MatMulEpilogue& epilogue, const AccumulatorBlock<T>& block, const OutputRows& rows) {
  const auto finish = [&](const auto& activate) HWY_ATTR {
    int i = 0;
    for (; i + kVectorsAtOnce * kLanes <= block.columns; i += kVectorsAtOnce * kLanes) {
      finish_columns<kVectorsAtOnce>(epilogue, block, rows, i, kLanes, activate);
    }
    for (; i < block.columns; i += kLanes) {
      finish_columns<1>(epilogue, block, rows, i, std::min(kLanes, block.columns - i), activate);
    }
  };
  // Frequent activations are inlined into the loops. Other activations are called.
  switch (const Activation activation = epilogue.activation) {
    case Activation::identity: return finish([](V y) HWY_ATTR { return y; });
    case Activation::relu: return finish([](V y) HWY_ATTR { return hn::Max(y, hn::Zero(D())); });
    default: return finish([=](V y) HWY_ATTR { return activated(activation, y); });
  }
}

void finish_floats(const MatMulEpilogue& epilogue, const AccumulatorBlock<float>& block, const OutputRows& rows) {
  finish_block(epilogue, block, rows);
}

void finish_integers(const MatMulEpilogue& epilogue, const AccumulatorBlock<std::int32_t>& block,
                     const OutputRows& rows) {
  finish_block(epilogue, block, rows);
}

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(finish_floats);
HWY_EXPORT(finish_integers);
HWY_EXPORT(target_name);

void finish_accumulators(const MatMulEpilogue& epilogue, const AccumulatorBlock<float>& block, const OutputRows& rows) {
  HWY_DYNAMIC_DISPATCH(finish_floats)(epilogue, block, rows);
}

void finish_accumulators(const MatMulEpilogue& epilogue, const AccumulatorBlock<std::int32_t>& block,
                         const OutputRows& rows) {
  HWY_DYNAMIC_DISPATCH(finish_integers)(epilogue, block, rows);
}

std::string vector_target() {
  std::string name = HWY_DYNAMIC_DISPATCH(target_name)();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace encdec::kernels
#endif
