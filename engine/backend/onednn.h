#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "encdec/engine/activation.h"

namespace encdec::backend {

// y[M, N] = activation(x[M, K] * W[K, N] + bias[N]) + residual[M, N], float32.
struct MatMulSpec {
  int input_width = 0;   // K
  int output_width = 0;  // N
  Activation activation = Activation::identity;
  bool bias = false;
  bool residual = false;

  friend auto operator<=>(const MatMulSpec& a, const MatMulSpec& b) = default;
};

// A weight matrix and its bias in the order in which the kernels read them: oneDNN's or our own, as the CPU demands.
// Immutable, shared by all threads.
class PackedMatrix {
 public:
  // `weight` is [N, K] row-major, one output a row as checkpoints store them; `bias` is [N], or null if spec.bias is
  // false. Both are copied. Throws BackendError.
  PackedMatrix(const MatMulSpec& spec, const float* weight, const float* bias);
  ~PackedMatrix();
  PackedMatrix(PackedMatrix&&) noexcept;
  PackedMatrix& operator=(PackedMatrix&&) noexcept;

  const MatMulSpec& spec() const;
  // Whether our own matmul carries all rows. It takes any number of them at no cost, and writes rows that lie apart.
  bool is_ours() const;
  // Bytes of the packed copy.
  std::size_t bytes() const;

 private:
  friend class MatMulContext;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Rows of x, one after the other, and where those of y go.
struct MatMulRows {
  int count = 0;
  const float* input = nullptr;
  // Read where the spec has a residual, and by our own matmul in any case; or null.
  const float* residual = nullptr;
  float* output = nullptr;
  // Between rows of residual and output; 0 for dense ones. oneDNN takes dense ones only.
  std::ptrdiff_t stride = 0;
};

// One thread's calls into oneDNN: primitives, ready for every (spec, M) seen lately, with their argument lists.
// Bounded: the least recently used is dropped, so memory stays flat however many sizes a process sees.
class MatMulContext {
 public:
  static constexpr std::size_t kMaxPrimitives = 512;

  MatMulContext();
  ~MatMulContext();
  MatMulContext(MatMulContext&&) noexcept;
  MatMulContext& operator=(MatMulContext&&) noexcept;

  // Computes on the calling thread alone. Throws BackendError.
  // A row's result does not depend on how many there are. oneDNN's AVX-512 matmul keeps that; where it has no such,
  // kernels::multiply_panels does all the work. One row alone goes through that in any case where it gives the same
  // bits as oneDNN, which is tried when packing.
  void run(const PackedMatrix& matrix, const MatMulRows& rows);
  // The same, by oneDNN: for matrices of its order.
  void run_primitive(const PackedMatrix& matrix, const MatMulRows& rows);

  // Name of oneDNN's implementation, such as "brg:avx512_core", or of ours, such as "encdec:avx2".
  std::string implementation(const PackedMatrix& matrix, int rows);
  std::size_t primitives() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "2.6.3": of the library found at run time.
std::string onednn_version();

}  // namespace encdec::backend
