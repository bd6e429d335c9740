#include "encdec/engine/backend/row_trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/kernels/panel_matmul.h"
#include "encdec/engine/kernels/quantization.h"

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
  Trial(Precision precision, int input_width)
      : spec_{.input_width = input_width, .output_width = kOutputs, .precision = precision},
        row_(random_values(static_cast<std::size_t>(input_width), 1)) {
    const kernels::PanelOrder order{kernels::PanelColumns::wide, precision == Precision::bfloat16 ? 2 : 1};
    const std::vector<float> values = random_values(static_cast<std::size_t>(input_width) * kOutputs, 2);
    std::vector<float> panels(order.elements(input_width, kOutputs), 0.0f);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t row = i / kOutputs, column = i % kOutputs;
      panels[column / order.width() * order.panel_elements(input_width) + order.index_in_panel(row, column)] =
          values[i];
    }
    weights_ = converted(panels);
  }

  RowTrial run() {
    RowTrial trial;
    const std::vector<float> expected = first_output(kRowCounts.front());
    trial.agrees =
        !expected.empty() && std::ranges::all_of(kRowCounts, [&](int rows) { return first_output(rows) == expected; });
    trial.one_row_agrees = first_output(1) == expected;
    if (trial.agrees && spec_.precision == Precision::float32) trial.chunk = find_chunk(expected);
    return trial;
  }

 private:
  std::vector<std::byte> converted(const std::vector<float>& values) const {
    const auto form =
        spec_.precision == Precision::bfloat16 ? kernels::InputForm::bfloat16 : kernels::InputForm::float32;
    std::vector<std::byte> bytes(values.size() * kernels::element_bytes(form));
    kernels::convert_row(form, values.data(), static_cast<int>(values.size()), bytes.data());
    return bytes;
  }

  // Of the first row; empty if rows differ.
  std::vector<float> first_output(int rows) {
    const std::vector<std::byte> row = converted(row_);
    std::vector<std::byte> input;
    for (int i = 0; i < rows; ++i) input.insert(input.end(), row.begin(), row.end());
    std::vector<float> output(static_cast<std::size_t>(rows) * kOutputs);
    primitives_.run(spec_, {.rows = rows, .input = input.data(), .weights = weights_.data(), .output = output.data()});
    for (int i = 1; i < rows; ++i) {
      if (!std::equal(output.begin(), output.begin() + kOutputs, output.begin() + i * kOutputs)) return {};
    }
    output.resize(kOutputs);
    return output;
  }

  int find_chunk(const std::vector<float>& expected) const {
    std::vector<float> output(kOutputs);
    for (const int chunk : {512, 1024, std::max(spec_.input_width, 1025)}) {
      kernels::multiply_panels({.panels = weights_.data(),
                                .type = kernels::PanelWeights::float32,
                                .input_width = spec_.input_width,
                                .output_width = kOutputs,
                                .chunk = chunk,
                                .columns = kernels::PanelColumns::wide},
                               {.count = 1, .input = row_.data(), .output = {.output = output.data()}});
      if (output == expected) return chunk;
    }
    return 0;
  }

  PrimitiveSpec spec_;
  std::vector<float> row_;
  std::vector<std::byte> weights_;
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

RowTrial try_rows(Precision precision, int input_width) {
  Trials& all = trials();
  const std::lock_guard lock(all.mutex);
  const std::pair key{precision, input_width};
  if (const auto found = all.known.find(key); found != all.known.end()) return found->second;
  return all.known.emplace(key, Trial(precision, input_width).run()).first->second;
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
