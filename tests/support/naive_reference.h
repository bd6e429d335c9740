#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/tensor.h"

// The formulas of the layers in double precision and plain loops. They share no code with the engine.
//
// Every value has a bound on the error of computing it in float32. The bound follows from the unit roundoff, the number
// of terms and the magnitudes of the terms (Higham 2002, section 3.1), and is propagated to first order. So tolerances
// are derived, not chosen.
namespace encdec::reference {

// A row-major matrix of values, with the maximum float32 error of each element.
struct Matrix {
  Matrix(std::int64_t row_count, std::int64_t column_count);
  // Copies a tensor of float32, float16, bfloat16 or int32 and rank 1 (one row) or 2. All errors are 0.
  explicit Matrix(const Tensor& tensor);

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;
  std::vector<double> errors;

  double& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * columns + c)]; }
  double at(std::int64_t r, std::int64_t c) const { return values[static_cast<std::size_t>(r * columns + c)]; }
  double& error(std::int64_t r, std::int64_t c) { return errors[static_cast<std::size_t>(r * columns + c)]; }
  double error(std::int64_t r, std::int64_t c) const { return errors[static_cast<std::size_t>(r * columns + c)]; }

  Matrix slice_rows(std::int64_t first, std::int64_t count) const;
  Matrix slice_columns(std::int64_t first, std::int64_t count) const;
  Matrix reshaped(std::int64_t column_count) const;
};

// Returns an element of a tensor of one of these types.
double element(const Tensor& tensor, std::int64_t index);

// Puts the parts below one another.
Matrix stack(std::span<const Matrix> parts);
// Puts the parts side by side.
Matrix beside(const Matrix& left, const Matrix& right);

Matrix add(const Matrix& a, const Matrix& b);

// Computes x Wᵀ + b. Shapes: weight [N, K], bias [N] or null.
Matrix linear(const Matrix& x, const Matrix& weight, const Matrix* bias);

// Computes a convolution along the rows:
//   y[j, n] = b[n] + sum over c and t of weight[n, c, t] * x[j * stride + t - padding, c]
// Rows outside of x are zeros. y has ceil(rows / stride) rows. Shapes: weight [N, C, kernel], bias [N] or null.
Matrix convolution_1d(const Matrix& x, const Tensor& weight, const Matrix* bias, std::int64_t stride,
                      std::int64_t padding = 0);

Matrix relu(Matrix x);
Matrix gelu(Matrix x);          // x * (1 + erf(x / sqrt(2))) / 2
Matrix gelu_tanh(Matrix x);     // x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2
Matrix gelu_sigmoid(Matrix x);  // x / (1 + exp(-1.702 x))
Matrix silu(Matrix x);          // x / (1 + exp(-x))
Matrix tanh(Matrix x);
Matrix sigmoid(Matrix x);  // 1 / (1 + exp(-x))
Matrix activate(Activation activation, Matrix x);
inline constexpr std::array kActivations = {Activation::identity,  Activation::relu,         Activation::gelu,
                                            Activation::gelu_tanh, Activation::gelu_sigmoid, Activation::silu,
                                            Activation::tanh,      Activation::sigmoid};

// Multiplies element by element.
Matrix multiply(const Matrix& a, const Matrix& b);

// Computes the softmax of each row.
Matrix softmax(const Matrix& scores);

enum class Mask {
  none,
  causal,  // the last query sees all keys; each earlier query sees one key fewer than the query after it
};

// Returns the bias for the score of a key that is `distance` positions after the query.
using ScoreBias = std::function<double(int head, std::int64_t distance)>;

struct ScoreOptions {
  Mask mask = Mask::none;
  double scale = 0.0;   // 0 means 1 / sqrt(columns of a head's query)
  double cap = 0.0;     // c: a score s becomes c * tanh(s / c); 0: it stays
  ScoreBias bias = {};  // empty for none
  int head = 0;
  std::int64_t window = -1;  // maximum distance of a key that a query sees; -1 means no limit
  std::int64_t ahead = -1;   // the same for keys after the query; -1 means `window`
};

// Computes softmax(scale q kᵀ + bias) v of one head. A query that sees no key gets zeros. The last query has the
// position of the last key.
Matrix attention(const Matrix& query, const Matrix& key, const Matrix& value, const ScoreOptions& options);
inline Matrix attention(const Matrix& query, const Matrix& key, const Matrix& value, Mask mask) {
  return attention(query, key, value, {.mask = mask});
}
// Computes attention with several heads of equal width. Head h has the h-th block of columns.
Matrix multi_head_attention(const Matrix& query, const Matrix& key, const Matrix& value, int heads,
                            const ScoreOptions& options);

Matrix layer_norm(const Matrix& x, const Matrix& scale, const Matrix& shift, double epsilon);
Matrix rms_norm(const Matrix& x, const Matrix& scale, double epsilon);

// Return the encodings of the positions `first` to first + count - 1, one per row: sin and cos of
// position / 10000^(2i/columns). Sines and cosines alternate (interleaved), or all sines come first (halves).
Matrix sinusoids_interleaved(std::int64_t first, std::int64_t count, std::int64_t columns);
Matrix sinusoids_halves(std::int64_t first, std::int64_t count, std::int64_t columns);

}  // namespace encdec::reference
