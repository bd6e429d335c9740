#pragma once

#include <encdec/engine/base/tensor.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace example {

// Prints a float32 tensor as rows of numbers, under a title. `format` is the format of one number.
inline void show(std::string_view title, const encdec::Tensor& tensor, const char* format) {
  fmt::print("{} {}\n", title, to_string(tensor.shape()));
  for (std::int64_t row = 0; row < tensor.rows(); ++row) {
    std::string line;
    for (std::int64_t column = 0; column < tensor.width(); ++column) {
      line += "  " + fmt::format(fmt::runtime(format), tensor.row(row)[column]);
    }
    fmt::print("{}\n", line);
  }
  fmt::print("\n");
}

}  // namespace example
