// Positional encodings appended to rows instead of added: W [x; p] is at least as general as x + p.
#include <encdec/engine/executor.h>
#include <encdec/layers/transformer/positional_encoding.h>

#include <cmath>

#include "inputs/concatenated_positions.h"
#include "programs/pictures.h"

namespace {

using namespace lessons;

constexpr Dim kRows = 24, kWidth = 16;

// Returns the output of a layer for one sequence `x`.
Tensor run(std::shared_ptr<const Layer> layer, const Tensor& x) {
  Graph graph("positions");
  graph.output(graph.add("positions", std::move(layer), {graph.input("x", {kSourceRows, kWidth})}));
  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  state.sequences = {{.first_row = 0, .rows = kRows}};
  const Tensor& output = executor.run(std::array{x}, state)[0];
  return matrix(output.shape(), {output.data<float>(), output.data<float>() + output.elements()});
}

// Returns the layer with W = [rows * I, positions * I].
std::shared_ptr<const Layer> concatenated(float rows, float positions) {
  Tensor weight = Tensor::allocate({kWidth, 2 * kWidth});
  for (Dim i = 0; i < kWidth; ++i) {
    weight.row(i)[i] = rows;
    weight.row(i)[kWidth + i] = positions;
  }
  return std::make_shared<ConcatenatedPositions>(
      weights_of({{"weight", weight}}),
      ConcatenatedPositionOptions{
          .input_width = kWidth, .output_width = kWidth, .bias = Bias::none, .positions = {.model_dim = kWidth}});
}

void run_lesson(bool svg) {
  Tensor x = Tensor::allocate({kRows, kWidth});
  for (Dim i = 0; i < x.elements(); ++i) x.data<float>()[i] = std::sin(0.7f * static_cast<float>(i));

  // W = [0 I] keeps only the encodings. Map them from [-1, 1] to [0, 1] for the picture.
  Tensor encodings = run(concatenated(0.0f, 1.0f), x);
  for (Dim i = 0; i < encodings.elements(); ++i) encodings.data<float>()[i] = (encodings.data<float>()[i] + 1.0f) / 2;
  HeatMap map{"a row for each position: sines, then cosines", encodings};
  for (Dim r = 0; r < kRows; ++r) map.names.push_back(std::to_string(r));
  if (svg) return print_svg(std::span(&map, 1));
  print_maps(std::span(&map, 1));

  // W = [I I] adds the encodings, as PositionalEncoding does.
  const Tensor added = run(std::make_shared<PositionalEncoding>(SinusoidLayout::halves, kWidth), x);
  const Tensor appended = run(concatenated(1.0f, 1.0f), x);
  float largest = 0.0f;
  for (Dim i = 0; i < added.elements(); ++i) {
    largest = std::max(largest, std::abs(added.data<float>()[i] - appended.data<float>()[i]));
  }
  fmt::print("largest difference between [I I] [x; p] and x + p: {}\n", largest < 1e-6f ? "none" : "too large");
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, run_lesson);
}
