#include "tests/support/naive_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace encdec::reference {
namespace {

// Half the distance from 1 to the next float: the relative error of one rounded operation.
constexpr double kUnit = 0x1p-24;

// Relative error of a sum of n rounded products, in any order of additions.
double gamma(std::int64_t n) {
  const double errors = static_cast<double>(n) * kUnit;
  return errors / (1.0 - errors);
}

// Applies a function with |f'| <= slope; `evaluation` bounds the relative error of f(x) / x computed in float32.
template <class Function>
Matrix apply(Matrix x, double slope, double evaluation, Function function) {
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double magnitude = std::abs(x.values[i]) + x.errors[i];
    x.values[i] = function(x.values[i]);
    x.errors[i] = slope * x.errors[i] + evaluation * magnitude;
  }
  return x;
}

// Bound for functions with erf, tanh or exp, in units of kUnit. Vector libraries compute these with an absolute error
// of a few units: oneDNN's erf (Abramowitz & Stegun 7.1.26) has an error of 1.5e-7 = 2.5 units. Each operation around
// them adds one unit.
constexpr double kEvaluation = 8 * kUnit;

void expect(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

}  // namespace

Matrix add(const Matrix& a, const Matrix& b) {
  expect(a.rows == b.rows && a.columns == b.columns, "add: shapes differ");
  Matrix sum = a;
  for (std::size_t i = 0; i < sum.values.size(); ++i) {
    sum.values[i] += b.values[i];
    sum.errors[i] += b.errors[i];
    sum.errors[i] += kUnit * (std::abs(sum.values[i]) + sum.errors[i]);
  }
  return sum;
}

Matrix linear(const Matrix& x, const Matrix& weight, const Matrix* bias) {
  expect(x.columns == weight.columns, "linear: widths differ");
  Matrix y(x.rows, weight.rows);
  for (std::int64_t r = 0; r < y.rows; ++r) {
    for (std::int64_t n = 0; n < y.columns; ++n) {
      double sum = bias != nullptr ? bias->at(0, n) : 0.0;
      double magnitude = std::abs(sum);
      double inherited = 0.0;
      for (std::int64_t k = 0; k < x.columns; ++k) {
        sum += x.at(r, k) * weight.at(n, k);
        magnitude += (std::abs(x.at(r, k)) + x.error(r, k)) * std::abs(weight.at(n, k));
        inherited += x.error(r, k) * std::abs(weight.at(n, k));
      }
      y.at(r, n) = sum;
      y.error(r, n) = inherited + gamma(x.columns + 1) * magnitude;
    }
  }
  return y;
}

Matrix convolution_1d(const Matrix& x, const Tensor& weight, const Matrix* bias, std::int64_t stride,
                      std::int64_t padding) {
  expect(weight.shape().rank() == 3 && weight.shape()[1] == x.columns, "convolution_1d: widths differ");
  const std::int64_t kernel = weight.shape()[2];
  Matrix y((x.rows + stride - 1) / stride, weight.shape()[0]);
  for (std::int64_t j = 0; j < y.rows; ++j) {
    for (std::int64_t n = 0; n < y.columns; ++n) {
      double sum = bias != nullptr ? bias->at(0, n) : 0.0;
      double magnitude = std::abs(sum);
      double inherited = 0.0;
      for (std::int64_t t = 0; t < kernel; ++t) {
        const std::int64_t position = j * stride + t - padding;
        if (position < 0 || position >= x.rows) continue;
        for (std::int64_t c = 0; c < x.columns; ++c) {
          const double w = element(weight, (n * x.columns + c) * kernel + t);
          const double error = x.error(position, c) * std::abs(w);
          sum += x.at(position, c) * w;
          magnitude += std::abs(x.at(position, c) * w) + error;
          inherited += error;
        }
      }
      y.at(j, n) = sum;
      y.error(j, n) = inherited + gamma(kernel * x.columns + 1) * magnitude;
    }
  }
  return y;
}

Matrix relu(Matrix x) {
  return apply(std::move(x), 1.0, 0.0, [](double v) { return std::max(v, 0.0); });
}

Matrix gelu(Matrix x) {
  return apply(std::move(x), 1.13, kEvaluation,
               [](double v) { return v * 0.5 * (1.0 + std::erf(v / std::numbers::sqrt2)); });
}

Matrix gelu_tanh(Matrix x) {
  return apply(std::move(x), 1.13, kEvaluation, [](double v) {
    return v * 0.5 * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
  });
}

Matrix silu(Matrix x) {
  return apply(std::move(x), 1.1, kEvaluation, [](double v) { return v / (1.0 + std::exp(-v)); });
}

Matrix gelu_sigmoid(Matrix x) {
  return apply(std::move(x), 1.1, kEvaluation, [](double v) { return v / (1.0 + std::exp(-1.702 * v)); });
}

Matrix tanh(Matrix x) {
  return apply(std::move(x), 1.0, kEvaluation, [](double v) { return std::tanh(v); });
}

Matrix sigmoid(Matrix x) {
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    x.values[i] = 1.0 / (1.0 + std::exp(-x.values[i]));
    x.errors[i] = 0.25 * x.errors[i] + kEvaluation * x.values[i];
  }
  return x;
}

Matrix activate(Activation activation, Matrix x) {
  switch (activation) {
    case Activation::identity: return x;
    case Activation::relu: return relu(std::move(x));
    case Activation::gelu: return gelu(std::move(x));
    case Activation::gelu_tanh: return gelu_tanh(std::move(x));
    case Activation::gelu_sigmoid: return gelu_sigmoid(std::move(x));
    case Activation::silu: return silu(std::move(x));
    case Activation::tanh: return tanh(std::move(x));
    case Activation::sigmoid: return sigmoid(std::move(x));
  }
  return x;
}

Matrix multiply(const Matrix& a, const Matrix& b) {
  expect(a.rows == b.rows && a.columns == b.columns, "multiply: shapes differ");
  Matrix product = a;
  for (std::size_t i = 0; i < product.values.size(); ++i) {
    const double x = std::abs(a.values[i]), y = std::abs(b.values[i]);
    product.values[i] *= b.values[i];
    product.errors[i] = x * b.errors[i] + y * a.errors[i] + a.errors[i] * b.errors[i];
    product.errors[i] += kUnit * (std::abs(product.values[i]) + product.errors[i]);
  }
  return product;
}

Matrix softmax(const Matrix& scores) {
  Matrix weights(scores.rows, scores.columns);
  for (std::int64_t r = 0; r < scores.rows; ++r) {
    double maximum = -std::numeric_limits<double>::infinity();
    double maximum_error = 0.0;
    for (std::int64_t c = 0; c < scores.columns; ++c) {
      maximum = std::max(maximum, scores.at(r, c));
      maximum_error = std::max(maximum_error, scores.error(r, c));
    }
    double sum = 0.0;
    for (std::int64_t c = 0; c < scores.columns; ++c) sum += std::exp(scores.at(r, c) - maximum);
    // The relative error of an exponential comes from its arguments, from their difference, and from exp itself (4
    // units). Results below the smallest normal float may become zero.
    double sum_error = 0.0;
    for (std::int64_t c = 0; c < scores.columns; ++c) {
      const double difference = maximum - scores.at(r, c);
      const double relative = std::expm1(scores.error(r, c) + maximum_error + kUnit * difference) + 4 * kUnit;
      weights.at(r, c) = std::exp(-difference) / sum;
      weights.error(r, c) = weights.at(r, c) * relative + static_cast<double>(std::numeric_limits<float>::min());
      sum_error += weights.error(r, c);
    }
    for (std::int64_t c = 0; c < scores.columns; ++c) {
      weights.error(r, c) += (weights.at(r, c) + weights.error(r, c)) * (sum_error + gamma(scores.columns + 2));
    }
  }
  return weights;
}

Matrix attention(const Matrix& query, const Matrix& key, const Matrix& value, const ScoreOptions& options) {
  expect(query.columns == key.columns && key.rows == value.rows, "attention: shapes do not fit");
  const double scale = options.scale != 0 ? options.scale : 1.0 / std::sqrt(static_cast<double>(query.columns));
  Matrix output(query.rows, value.columns);
  for (std::int64_t i = 0; i < query.rows; ++i) {
    const std::int64_t position = key.rows - query.rows + i;
    std::vector<std::int64_t> seen;
    for (std::int64_t j = 0; j < key.rows; ++j) {
      const std::int64_t most = j > position && options.ahead >= 0 ? options.ahead : options.window;
      const bool hidden =
          (options.mask == Mask::causal && j > position) || (most >= 0 && std::abs(j - position) > most);
      if (!hidden) seen.push_back(j);
    }
    if (seen.empty()) continue;
    const auto count = static_cast<std::int64_t>(seen.size());
    Matrix scores(1, count);
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t j = seen[static_cast<std::size_t>(n)];
      double magnitude = 0.0, inherited = 0.0;
      for (std::int64_t k = 0; k < query.columns; ++k) {
        const double q = std::abs(query.at(i, k)), p = std::abs(key.at(j, k));
        scores.at(0, n) += query.at(i, k) * key.at(j, k) * scale;
        inherited += q * key.error(j, k) + p * query.error(i, k) + query.error(i, k) * key.error(j, k);
        magnitude += (q + query.error(i, k)) * (p + key.error(j, k));
      }
      // Two more roundings: of the scale, and of the product with it.
      scores.error(0, n) = scale * (inherited + gamma(query.columns + 3) * magnitude);
      if (options.cap > 0) {
        Matrix score(1, 1);
        score.at(0, 0) = scores.at(0, n) / options.cap;
        score.error(0, 0) = scores.error(0, n) / options.cap + kUnit * std::abs(score.at(0, 0));
        score = tanh(std::move(score));
        scores.at(0, n) = options.cap * score.at(0, 0);
        scores.error(0, n) = options.cap * (score.error(0, 0) + kUnit);
      }
      if (options.bias) {
        scores.at(0, n) += options.bias(options.head, j - position);
        scores.error(0, n) += kUnit * (std::abs(scores.at(0, n)) + scores.error(0, n));
      }
    }
    const Matrix weights = softmax(scores);
    for (std::int64_t c = 0; c < value.columns; ++c) {
      double magnitude = 0.0, inherited = 0.0;
      for (std::int64_t n = 0; n < count; ++n) {
        const std::int64_t j = seen[static_cast<std::size_t>(n)];
        const double w = weights.at(0, n), v = std::abs(value.at(j, c));
        output.at(i, c) += w * value.at(j, c);
        inherited += w * value.error(j, c) + v * weights.error(0, n) + weights.error(0, n) * value.error(j, c);
        magnitude += (w + weights.error(0, n)) * (v + value.error(j, c));
      }
      output.error(i, c) = inherited + gamma(count + 1) * magnitude;
    }
  }
  return output;
}

Matrix multi_head_attention(const Matrix& query, const Matrix& key, const Matrix& value, int heads,
                            const ScoreOptions& options) {
  const std::int64_t width = query.columns / heads;
  Matrix all(query.rows, 0);
  ScoreOptions of_head = options;
  for (int head = 0; head < heads; ++head) {
    of_head.head = head;
    all = beside(all, attention(query.slice_columns(head * width, width), key.slice_columns(head * width, width),
                                value.slice_columns(head * width, width), of_head));
  }
  return all;
}

Matrix layer_norm(const Matrix& x, const Matrix& scale, const Matrix& shift, double epsilon) {
  Matrix y(x.rows, x.columns);
  const auto width = static_cast<double>(x.columns);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double mean = 0.0, mean_error = 0.0;
    for (std::int64_t c = 0; c < x.columns; ++c) {
      mean += x.at(r, c) / width;
      mean_error += (x.error(r, c) + gamma(x.columns + 1) * (std::abs(x.at(r, c)) + x.error(r, c))) / width;
    }
    double variance = 0.0, variance_error = 0.0;
    std::vector<double> deviation_errors;
    for (std::int64_t c = 0; c < x.columns; ++c) {
      const double deviation = x.at(r, c) - mean;
      const double error = (x.error(r, c) + mean_error) * (1.0 + kUnit) + kUnit * std::abs(deviation);
      deviation_errors.push_back(error);
      variance += deviation * deviation / width;
      variance_error += (2.0 * std::abs(deviation) * error + error * error) / width;
    }
    variance_error += gamma(x.columns + 2) * (variance + variance_error);
    const double factor = 1.0 / std::sqrt(variance + epsilon);
    const double largest_factor = 1.0 / std::sqrt(std::max(variance - variance_error, 0.0) + epsilon);
    const double factor_error = largest_factor - factor + 4 * kUnit * largest_factor;
    for (std::int64_t c = 0; c < x.columns; ++c) {
      const double deviation = x.at(r, c) - mean;
      const double error = deviation_errors[static_cast<std::size_t>(c)];
      const double w = std::abs(scale.at(0, c));
      y.at(r, c) = deviation * factor * scale.at(0, c) + shift.at(0, c);
      const double product_error = (error * largest_factor + std::abs(deviation) * factor_error) * w;
      y.error(r, c) = product_error + 4 * kUnit * (std::abs(deviation) * factor * w + product_error) +
                      2 * kUnit * std::abs(shift.at(0, c));
    }
  }
  return y;
}

Matrix rms_norm(const Matrix& x, const Matrix& scale, double epsilon) {
  Matrix y(x.rows, x.columns);
  const auto width = static_cast<double>(x.columns);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double square = 0.0, square_error = 0.0;
    for (std::int64_t c = 0; c < x.columns; ++c) {
      const double v = std::abs(x.at(r, c)), error = x.error(r, c);
      square += v * v / width;
      square_error += (2.0 * v * error + error * error) / width;
    }
    square_error += gamma(x.columns + 2) * (square + square_error);
    const double factor = 1.0 / std::sqrt(square + epsilon);
    const double largest_factor = 1.0 / std::sqrt(std::max(square - square_error, 0.0) + epsilon);
    const double factor_error = largest_factor - factor + 4 * kUnit * largest_factor;
    for (std::int64_t c = 0; c < x.columns; ++c) {
      const double v = std::abs(x.at(r, c)), w = std::abs(scale.at(0, c));
      y.at(r, c) = x.at(r, c) * factor * scale.at(0, c);
      const double error = (x.error(r, c) * largest_factor + v * factor_error) * w;
      y.error(r, c) = error + 3 * kUnit * (v * factor * w + error);
    }
  }
  return y;
}

Matrix sinusoids_interleaved(std::int64_t first, std::int64_t count, std::int64_t columns) {
  Matrix encodings(count, columns);
  for (std::int64_t p = 0; p < count; ++p) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto pair = static_cast<double>(c - c % 2);
      const double angle = static_cast<double>(first + p) * std::pow(10000.0, -pair / static_cast<double>(columns));
      encodings.at(p, c) = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
      encodings.error(p, c) = kUnit;
    }
  }
  return encodings;
}

Matrix sinusoids_halves(std::int64_t first, std::int64_t count, std::int64_t columns) {
  const Matrix pairs = sinusoids_interleaved(first, count, columns);
  Matrix encodings(count, columns);
  for (std::int64_t p = 0; p < count; ++p) {
    std::int64_t next = 0;
    for (const std::int64_t parity : {0, 1}) {
      for (std::int64_t c = parity; c < columns; c += 2, ++next) {
        encodings.at(p, next) = pairs.at(p, c);
        encodings.error(p, next) = pairs.error(p, c);
      }
    }
  }
  return encodings;
}

}  // namespace encdec::reference
