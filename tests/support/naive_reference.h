#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/tensor.h"

// The formulas of the layers in double precision and plain loops, sharing no code with the engine.
//
// Every value carries a bound on what float32 arithmetic may make of it: the bounds follow from the unit roundoff, the
// number of terms and the magnitudes that are summed (Higham 2002, section 3.1), and are carried through the formulas
// to first order. So a tolerance is derived, never chosen.
namespace encdec::reference {

// A row-major matrix of values and, element by element, the largest error that float32 may have made.
struct Matrix {
  Matrix(std::int64_t row_count, std::int64_t column_count);
  // A tensor of rank 1 or 2 as float32, float16, bfloat16 or int32; without error. Rank 1 is one row.
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
};

// An element of such a tensor.
double element(const Tensor& tensor, std::int64_t index);

// One below the other, and side by side.
Matrix stack(std::span<const Matrix> parts);
Matrix beside(const Matrix& left, const Matrix& right);

Matrix add(const Matrix& a, const Matrix& b);

// x Wᵀ + b, weight [N, K]; `bias` is null or [N].
Matrix linear(const Matrix& x, const Matrix& weight, const Matrix* bias);

// Along the rows: y_j = b + sum over c and t of weight[n, c, t] x[j * stride + t, c], with zeros after the last row;
// ceil(rows / stride) rows. Weight [N, C, kernel]; `bias` is null or [N].
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

// Element by element.
Matrix multiply(const Matrix& a, const Matrix& b);

// Of each row.
Matrix softmax(const Matrix& scores);

// Attention over a dense batch in its parts, one member: scores of queries and keys, masked, and values weighed.
Matrix dot_product_scores(const Matrix& query, const Matrix& key, double divisor);
// w tanh(q_i + k_j) + b for rows that are projected already; `weight` is [1, h], `bias` null or [1].
Matrix additive_scores(const Matrix& query, const Matrix& key, const Matrix& weight, const Matrix* bias);
// -1e6 from each row's length on.
Matrix mask_beyond(Matrix scores, std::span<const std::int32_t> lengths);
Matrix weighted_sum(const Matrix& weights, const Matrix& values);

enum class Mask {
  none,
  causal,  // the last query sees all keys, each one before it one key less
};

// The bias of a head's score of a key so many positions after the query; none if empty.
using ScoreBias = std::function<double(int head, std::int64_t distance)>;

struct ScoreOptions {
  Mask mask = Mask::none;
  double scale = 0.0;  // 0: 1 / sqrt(columns of a head's query)
  ScoreBias bias = {};
  int head = 0;
  std::int64_t window = -1;  // keys farther from the query's position are not seen; -1: however far
};

// softmax(scale q kᵀ + bias) v of one head; zeros for queries that see no key. The last query stands at the last key.
Matrix attention(const Matrix& query, const Matrix& key, const Matrix& value, const ScoreOptions& options);
inline Matrix attention(const Matrix& query, const Matrix& key, const Matrix& value, Mask mask) {
  return attention(query, key, value, {.mask = mask});
}
// Heads side by side in the columns, equally wide.
Matrix multi_head_attention(const Matrix& query, const Matrix& key, const Matrix& value, int heads,
                            const ScoreOptions& options);

Matrix layer_norm(const Matrix& x, const Matrix& scale, const Matrix& shift, double epsilon);
Matrix rms_norm(const Matrix& x, const Matrix& scale, double epsilon);

// Row p is the encoding of position first + p: sin and cos of position / 10000^(2i/columns).
Matrix sinusoids_interleaved(std::int64_t first, std::int64_t count, std::int64_t columns);
Matrix sinusoids_halves(std::int64_t first, std::int64_t count, std::int64_t columns);

}  // namespace encdec::reference
