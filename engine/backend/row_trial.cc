#include "encdec/engine/backend/row_trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "encdec/engine/backend/packed_matrix.h"

namespace encdec::backend {
namespace {

// Three panels. The first number of rows gives the bits that all others must give.
constexpr int kOutputs = 192;
constexpr std::array kRowCounts = {2, 3, 4, 5, 8, 13, 16, 24, 31, 32, 64, 128, 256};

// Products must need rounding: otherwise every order of sums gives the same bits.
std::vector<float> random_values(std::size_t count, std::uint32_t state) {
  std::vector<float> values(count);
  for (float& x : values) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) / 0x1p24f - 0.5f;
  }
  return values;
}

// One row, given as many times as there are rows, times one matrix.
class Trial {
 public:
  Trial(const Backend& backend, int input_width)
      : backend_(backend),
        input_width_(input_width),
        row_(random_values(static_cast<std::size_t>(input_width), 1)),
        input_(row_.size() * kernels::element_bytes(backend.input)) {
    kernels::convert_row(backend.input, row_.data(), input_width, input_.data());
    weights_ = PackedMatrix::pack({input_width, kOutputs, &backend}, [&](Dim first, Dim count, float* rows) {
      const auto values =
          random_values(static_cast<std::size_t>(count * input_width), static_cast<std::uint32_t>(first + 2));
      std::ranges::copy(values, rows);
    });
  }

  RowTrial run() {
    RowTrial trial;
    const std::vector<float> expected = first_output(kRowCounts.front());
    trial.agrees =
        !expected.empty() && std::ranges::all_of(kRowCounts, [&](int rows) { return first_output(rows) == expected; });
    trial.one_row_agrees = first_output(1) == expected;
    if (trial.agrees && backend_.precision == Precision::float32) trial.chunk = find_chunk(expected);
    return trial;
  }

 private:
  // The first row's outputs; empty if rows differ.
  std::vector<float> first_output(int rows) {
    std::vector<std::byte> input;
    for (int i = 0; i < rows; ++i) input.insert(input.end(), input_.begin(), input_.end());
    std::vector<float> output(static_cast<std::size_t>(rows) * kOutputs);
    primitives_.run({.input_width = input_width_, .output_width = kOutputs, .precision = backend_.precision},
                    {.rows = rows, .input = input.data(), .weights = weights_.raw(), .output = output.data()});
    for (int i = 1; i < rows; ++i) {
      if (!std::equal(output.begin(), output.begin() + kOutputs, output.begin() + i * kOutputs)) return {};
    }
    output.resize(kOutputs);
    return output;
  }

  int find_chunk(const std::vector<float>& expected) const {
    std::vector<float> output(kOutputs);
    for (const int chunk : {512, 1024, std::max(input_width_, 1025)}) {
      kernels::multiply_panels({.panels = weights_.raw(), .input_width = input_width_, .output_width = kOutputs},
                               {.count = 1, .input = input_.data(), .output = {.output = output.data()}},
                               {.columns = backend_.weights.columns, .chunk = chunk});
      if (output == expected) return chunk;
    }
    return 0;
  }

  const Backend& backend_;
  int input_width_;
  std::vector<float> row_;
  std::vector<std::byte> input_;
  Tensor weights_;
  MatMulPrimitives primitives_;
};

struct Trials {
  std::mutex mutex;
  std::map<std::pair<Precision, int>, RowTrial> known;
};

Trials& trials() {
  static Trials all;
  return all;
}

}  // namespace

RowTrial try_rows(const Backend& backend, int input_width) {
  Trials& all = trials();
  const std::lock_guard lock(all.mutex);
  const std::pair key{backend.precision, input_width};
  if (const auto found = all.known.find(key); found != all.known.end()) return found->second;
  return all.known.emplace(key, Trial(backend, input_width).run()).first->second;
}

std::string disagreements(Precision precision) {
  Trials& all = trials();
  const std::lock_guard lock(all.mutex);
  std::vector<int> widths;
  for (const auto& [key, trial] : all.known) {
    if (key.first == precision && !trial.agrees) widths.push_back(key.second);
  }
  if (widths.empty()) return "";
  return fmt::format(
      "precision {}: oneDNN {} gives a row other bits in other company (of {} inputs); encdec's own kernels multiply",
      to_string(precision), onednn_version(), fmt::join(widths, ", "));
}

}  // namespace encdec::backend
