#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "encdec/engine/activation.h"

namespace encdec::backend {

// y[M, N] = activation(x[M, K] * W[K, N] + bias[N]) + residual[M, N], float32, rows dense.
struct MatMulSpec {
  int input_width = 0;   // K
  int output_width = 0;  // N
  Activation activation = Activation::identity;
  bool bias = false;
  bool residual = false;

  friend auto operator<=>(const MatMulSpec& a, const MatMulSpec& b) = default;
};

// A weight matrix and its bias in the order in which oneDNN's kernels read them. Immutable, shared by all threads.
class PackedMatrix {
 public:
  // `weight` is [N, K] row-major, one output a row as checkpoints store them; `bias` is [N], or null if spec.bias is
  // false. Both are copied. Throws BackendError.
  PackedMatrix(const MatMulSpec& spec, const float* weight, const float* bias);
  ~PackedMatrix();
  PackedMatrix(PackedMatrix&&) noexcept;
  PackedMatrix& operator=(PackedMatrix&&) noexcept;

  const MatMulSpec& spec() const;
  // Bytes of the packed copy.
  std::size_t bytes() const;

 private:
  friend class MatMulContext;
  struct Impl;
  std::unique_ptr<Impl> impl_;
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

  // Computes `rows` rows on the calling thread alone. `residual` is null if the spec has none. Throws BackendError.
  // A row's result does not depend on how many there are, as long as oneDNN chooses the same kernel family for all
  // (it does on AVX-512).
  // One row alone goes through kernels::multiply_row where that gives the same bits, which is tried when packing.
  void run(const PackedMatrix& matrix, int rows, const float* input, const float* residual, float* output);
  // The same, by oneDNN in any case.
  void run_primitive(const PackedMatrix& matrix, int rows, const float* input, const float* residual, float* output);

  // Name of oneDNN's implementation, such as "brg:avx512_core".
  std::string implementation(const PackedMatrix& matrix, int rows);
  std::size_t primitives() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "2.6.3": of the library found at run time.
std::string onednn_version();

}  // namespace encdec::backend
