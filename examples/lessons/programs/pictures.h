#pragma once

#include <encdec/engine/base/tensor.h>
#include <encdec/engine/base/weights.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Shared by the programs: tensors written by hand, and pictures of them.
namespace lessons {
using namespace encdec;

inline Tensor matrix(const Shape& shape, const std::vector<float>& numbers) {
  Tensor tensor = Tensor::allocate(shape);
  std::ranges::copy(numbers, tensor.data<float>());
  return tensor;
}

// Returns `value` on the diagonal and 0 elsewhere.
inline Tensor diagonal(Dim width, float value) {
  Tensor tensor = Tensor::allocate({width, width});
  for (Dim i = 0; i < width; ++i) tensor.row(i)[i] = value;
  return tensor;
}

inline Tensor token_ids(const std::vector<std::int32_t>& ids) {
  Tensor tensor = Tensor::allocate({static_cast<Dim>(ids.size())}, DataType::int32);
  std::ranges::copy(ids, tensor.data<std::int32_t>());
  return tensor;
}

// Returns tensors in the form in which layers take the tensors of a checkpoint.
inline WeightScope weights_of(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  auto store = std::make_shared<WeightStore>("by hand");
  for (const auto& [name, tensor] : tensors) store->add(name, tensor);
  return WeightScope(std::shared_ptr<const WeightStore>(std::move(store)));
}

// Prints a float32 tensor as rows of numbers, under a title. `format` is the format of one number.
inline void show(std::string_view title, const Tensor& tensor, const char* format) {
  fmt::print("{} {}\n", title, to_string(tensor.shape()));
  for (Dim row = 0; row < tensor.rows(); ++row) {
    std::string line;
    for (Dim column = 0; column < tensor.width(); ++column) {
      line += "  " + fmt::format(fmt::runtime(format), tensor.row(row)[column]);
    }
    fmt::print("{}\n", line);
  }
  fmt::print("\n");
}

// A heat map: a matrix of numbers, a cell for each. The largest is dark, and 0 or less is white.
struct HeatMap {
  std::string title;
  Tensor values;                        // [rows, columns]
  std::vector<std::string> names = {};  // names of the rows; may be empty

  float share(Dim row, Dim column) const {
    const float largest = *std::max_element(values.data<float>(), values.data<float>() + values.elements());
    return std::max(values.row(row)[column], 0.0f) / largest;
  }
  std::string name(Dim row) const { return names.empty() ? "" : names[static_cast<std::size_t>(row)]; }
};

// Prints maps for a terminal, one below the other.
inline void print_maps(std::span<const HeatMap> maps) {
  constexpr std::array kShades = {"··", "░░", "▒▒", "▓▓", "██"};
  for (const HeatMap& map : maps) {
    fmt::print("{}\n", map.title);
    for (Dim row = 0; row < map.values.rows(); ++row) {
      std::string line = fmt::format("{:>8} ", map.name(row));
      for (Dim column = 0; column < map.values.width(); ++column) {
        line += kShades[static_cast<std::size_t>(map.share(row, column) * 4.0f + 0.9f)];
      }
      fmt::print("{}\n", line);
    }
    fmt::print("\n");
  }
}

// Prints maps as an SVG, side by side.
inline void print_svg(std::span<const HeatMap> maps) {
  constexpr Dim kCell = 14, kTop = 24, kGap = 20;
  const Dim left = maps[0].names.empty() ? kGap : 3 * kGap;
  Dim width = left, height = 0;
  std::string cells;
  for (const HeatMap& map : maps) {
    cells += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", width, kTop - 8, map.title);
    for (Dim row = 0; row < map.values.rows(); ++row) {
      const Dim y = kTop + row * kCell;
      if (width == left) {
        cells +=
            fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 6, y + 11, map.name(row));
      }
      for (Dim column = 0; column < map.values.width(); ++column) {
        cells += fmt::format("<rect x=\"{}\" y=\"{}\" fill-opacity=\"{:.2f}\"/>\n", width + column * kCell, y,
                             map.share(row, column));
      }
    }
    width += std::max(map.values.width() * kCell, static_cast<Dim>(7 * map.title.size())) + kGap;
    height = std::max(height, kTop + map.values.rows() * kCell + kGap);
  }
  fmt::print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<style>rect {{ width: {2}px; height: {2}px; fill: #10457f; stroke: #d8dee6 }} "
      "text {{ font: 12px sans-serif }}</style>\n"
      "<path d=\"M0 0h{0}v{1}H0z\" fill=\"#fff\"/>\n{3}</svg>\n",
      width, height, kCell, cells);
}

// Runs a program that takes no argument, or --svg if it has a picture: run(true) then prints the picture alone.
template <class Run>
int run_program(int argc, char** argv, const Run& run) {
  const bool svg = argc == 2 && std::string_view(argv[1]) == "--svg";
  if (argc > 1 && !svg) {
    std::fprintf(stderr, "usage: %s [--svg]\n", argv[0]);
    return 2;
  }
  try {
    run(svg);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace lessons
