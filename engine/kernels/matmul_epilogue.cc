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

HWY_INLINE V value_of(const MatMulEpilogue&, const float* sums, int, float, int count) {
  return load_some(D(), sums, count);
}

HWY_INLINE V value_of(const MatMulEpilogue& epilogue, const std::int32_t* sums, int column, float row_scale,
                      int count) {
  const D d;
  const hn::RebindToSigned<D> di;
  auto integers = load_some(di, sums, count);
  if (epilogue.offsets != nullptr) {
    integers = hn::Sub(integers, load_some(di, epilogue.offsets + column, count));
  }
  const V scale = hn::Mul(hn::Set(d, row_scale), load_some(d, epilogue.column_scales + column, count));
  return hn::Mul(hn::ConvertTo(d, integers), scale);
}

template <class T>
void finish_block(const MatMulEpilogue& epilogue, const SumsBlock<T>& block, const OutputRows& rows) {
  const D d;
  for (int row = 0; row < block.rows; ++row) {
    const T* HWY_RESTRICT sums = block.sums + row * block.stride;
    const std::ptrdiff_t place = row * rows.stride + block.first_column;
    float* output = rows.output + place;
    const float* residual = rows.residual != nullptr ? rows.residual + place : nullptr;
    const float row_scale = rows.row_scales != nullptr ? rows.row_scales[row] : 1.0f;
    for_each_vector(d, block.columns, [&](int i, int count) HWY_ATTR {
      V y = value_of(epilogue, sums + i, block.first_column + i, row_scale, count);
      if (epilogue.bias != nullptr) y = hn::Add(y, load_some(d, epilogue.bias + block.first_column + i, count));
      if (epilogue.activation == Activation::relu) {
        y = hn::Max(y, hn::Zero(d));
      } else if (epilogue.activation != Activation::identity) {
        y = activated(epilogue.activation, y);
      }
      if (residual != nullptr) y = hn::Add(y, load_some(d, residual + i, count));
      store_some(y, d, output + i, count);
    });
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
