// Attention over an image: each pixel attends to all pixels, and most to similar ones.
#include <encdec/engine/executor.h>

#include "long_inputs/image_self_attention.h"
#include "programs/pictures.h"

namespace {

using namespace lessons;

// Sky, two balls and grass.
constexpr std::array<std::string_view, 10> kImage = {"............", "............", "..oo........", ".oooo.......",
                                                     ".oooo....oo.", "..oo....oooo", "........oooo", "#########oo#",
                                                     "############", "############"};
constexpr Dim kHeight = kImage.size(), kWidth = kImage[0].size();
constexpr Dim kColours = 3;  // blue, red, green

// A pixel whose attention is shown.
struct Pixel {
  const char* name;
  Dim y, x;
};

void run_lesson(bool svg) {
  // Draw the image: a one-hot vector of the colour for each pixel, times its brightness.
  Tensor image = Tensor::allocate({1, kHeight, kWidth, kColours});
  for (Dim y = 0; y < kHeight; ++y) {
    for (Dim x = 0; x < kWidth; ++x) {
      const char pixel = kImage[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
      const float shadow = 0.02f * static_cast<float>(y);  // lower rows are darker
      image.row(y * kWidth + x)[std::string_view(".o#").find(pixel)] = 1.0f - shadow;
    }
  }

  // Queries and keys are the colours. Two pixels of the same colour have a score of about 6.
  Graph graph("image");
  const WeightScope weights = weights_of({{"query.weight", diagonal(kColours, 6.0f)},
                                          {"key.weight", diagonal(kColours, 1.0f)},
                                          {"value.weight", diagonal(kColours, 1.0f)},
                                          {"gamma", matrix({1}, {0.5f})}});
  const Edge attended = graph.add(
      "attention",
      std::make_shared<ImageSelfAttention>(weights, ImageSelfAttentionOptions{.channels = kColours,
                                                                              .key_channels = kColours,
                                                                              .output = ImageAttentionOutput::direct,
                                                                              .bias = Bias::none}),
      {graph.input("image", {kBatch, kHeight, kWidth, kColours})});
  graph.output(attended);
  const Executor executor(std::move(graph));
  RunState state(executor.graph());

  // Collect the attention weights: for each pixel a row, which is itself an image.
  Tensor seen = Tensor::allocate({kHeight * kWidth, kHeight * kWidth});
  state.observe_attention(attended,
                          [&](const AttentionWeights& row) { std::ranges::copy(row.weights, seen.row(row.row)); });
  const Tensor output = executor.run(std::array{image}, state)[0];

  // Show the weights of three pixels.
  std::vector<HeatMap> maps;
  for (const auto& [name, y, x] :
       {Pixel{"a ball's pixel (3, 2)", 3, 2}, {"the sky's (0, 5)", 0, 5}, {"the grass's (9, 0)", 9, 0}}) {
    maps.push_back({name, seen.slice(y * kWidth + x, 1).reshape({kHeight, kWidth})});
  }
  if (svg) return print_svg(maps);
  fmt::print("the image\n");
  for (const std::string_view row : kImage) fmt::print("         {}\n", row);
  fmt::print("\n");
  print_maps(maps);
  // The output is x + gamma * attended. gamma is 0 when training begins.
  const Tensor pixel = output.reshape({kHeight * kWidth, kColours}).slice(3 * kWidth + 2, 1);
  show("pixel (3, 2) after attention: gamma * attended + itself", pixel, "{:.3f}");
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, run_lesson);
}
