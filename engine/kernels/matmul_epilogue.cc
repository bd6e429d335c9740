#include "encdec/engine/kernels/matmul_epilogue.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encdec/engine/kernels/matmul_epilogue.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
// after highway.h
#include "encdec/engine/kernels/functions_inl.h"
#include "encdec/engine/kernels/vectors_inl.h"

HWY_BEFORE_NAMESPACE();
namespace encdec::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

HWY_NOINLINE V activated(Activation activation, V x) {
  return activate(activation, D(), x);
}

// What turns sums of some neighbouring columns into values.
template <class T>
struct Columns;

template <>
struct Columns<float> {
  Columns(const MatMulEpilogue&, int /*first*/, int /*count*/) {}
  HWY_INLINE V value(const float* sums, const float* /*row_scales*/, int /*row*/, int count) const {
    return load_some(D(), sums, count);
  }
};

template <>
struct Columns<std::int32_t> {
  using Integers = hn::RebindToSigned<D>;
  V scales;
  hn::Vec<Integers> offsets;

  HWY_INLINE Columns(const MatMulEpilogue& epilogue, int first, int count)
      : scales(load_some(D(), epilogue.column_scales + first, count)),
        offsets(epilogue.offsets != nullptr ? load_some(Integers(), epilogue.offsets + first, count)
                                            : hn::Zero(Integers())) {}

  HWY_INLINE V value(const std::int32_t* sums, const float* row_scales, int row, int count) const {
    const auto integers = hn::Sub(load_some(Integers(), sums, count), offsets);
    return hn::Mul(hn::ConvertTo(D(), integers), hn::Mul(hn::Set(D(), row_scales[row]), scales));
  }
};

// All rows of the vector of columns from number `i` of the block on: what belongs to columns is read once.
template <class T, class Activate>
HWY_INLINE void finish_columns(const MatMulEpilogue& epilogue, const SumsBlock<T>& block, const OutputRows& rows, int i,
                               int count, const Activate& activate) {
  const D d;
  const int column = block.first_column + i;
  const Columns<T> columns(epilogue, column, count);
  const V bias = epilogue.bias != nullptr ? load_some(d, epilogue.bias + column, count) : hn::Set(d, -0.0f);
  // Not members: each store might have changed those.
  const T* sums = block.sums + i;
  const float* row_scales = rows.row_scales;
  const float* residual = rows.residual != nullptr ? rows.residual + column : nullptr;
  float* output = rows.output + column;
  const std::ptrdiff_t sums_stride = block.stride, stride = rows.stride;
  for (int row = 0, end = block.rows; row < end; ++row) {
    V y = activate(hn::Add(columns.value(sums + row * sums_stride, row_scales, row, count), bias));
    if (residual != nullptr) y = hn::Add(y, load_some(d, residual + row * stride, count));
    store_some(y, d, output + row * stride, count);
  }
}

template <class T>
void finish_block(const MatMulEpilogue& epilogue, const SumsBlock<T>& block, const OutputRows& rows) {
  const auto finish = [&](const auto& activate) HWY_ATTR {
    for_each_vector(D(), block.columns,
                    [&](int i, int count) HWY_ATTR { finish_columns(epilogue, block, rows, i, count, activate); });
  };
  switch (const Activation activation = epilogue.activation) {
    case Activation::identity: return finish([](V y) HWY_ATTR { return y; });
    case Activation::relu: return finish([](V y) HWY_ATTR { return hn::Max(y, hn::Zero(D())); });
    default: return finish([=](V y) HWY_ATTR { return activated(activation, y); });
  }
}

void finish_floats(const MatMulEpilogue& epilogue, const SumsBlock<float>& block, const OutputRows& rows) {
  finish_block(epilogue, block, rows);
}

void finish_integers(const MatMulEpilogue& epilogue, const SumsBlock<std::int32_t>& block, const OutputRows& rows) {
  finish_block(epilogue, block, rows);
}

}  // namespace
}  // namespace encdec::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::kernels {

HWY_EXPORT(finish_floats);
HWY_EXPORT(finish_integers);

void finish_sums(const MatMulEpilogue& epilogue, const SumsBlock<float>& block, const OutputRows& rows) {
  HWY_DYNAMIC_DISPATCH(finish_floats)(epilogue, block, rows);
}

void finish_sums(const MatMulEpilogue& epilogue, const SumsBlock<std::int32_t>& block, const OutputRows& rows) {
  HWY_DYNAMIC_DISPATCH(finish_integers)(epilogue, block, rows);
}

}  // namespace encdec::kernels
#endif
