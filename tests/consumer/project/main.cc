// Runs a network of two layers, built by hand, and the model in the folder given as an argument, if any.
#include <array>
#include <cmath>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "encdec/engine/base/error.h"
#include "encdec/engine/executor.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/models/model.h"

namespace {

using namespace encdec;

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

Tensor filled(const Shape& shape, float value) {
  Tensor tensor = Tensor::allocate(shape);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = value;
  return tensor;
}

// Computes norm(x + feed_forward(x)). The feed-forward network adds one value to all elements of a row, which the norm
// removes: the result depends only on x.
void run_a_graph() {
  auto store = std::make_shared<WeightStore>("by hand");
  store->add("feed_forward.expand.weight", filled({8, 4}, 0.5f));
  store->add("feed_forward.expand.bias", filled({8}, 0.0f));
  store->add("feed_forward.project.weight", filled({4, 8}, 0.25f));
  store->add("feed_forward.project.bias", filled({4}, 1.0f));
  store->add("norm.weight", filled({4}, 1.0f));
  store->add("norm.bias", filled({4}, 0.0f));
  const WeightScope weights{std::shared_ptr<const WeightStore>(std::move(store))};

  Graph graph("two layers");
  const Edge x = graph.input("x", {kTargetRows, 4});
  const Edge y =
      graph.add<FeedForward>(weights / "feed_forward", {x}, FeedForwardOptions{.model_dim = 4, .hidden_dim = 8});
  graph.output(graph.add<AddNorm>(weights / "norm", {x, y}, NormOptions{.width = 4}));
  std::cout << graph.to_text();

  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  Tensor input = Tensor::allocate({1, 4});
  for (int i = 0; i < 4; ++i) input.data<float>()[i] = static_cast<float>(i);
  const std::array<Tensor, 1> inputs = {input};
  const float* output = executor.run(inputs, state)[0].data<float>();
  // The mean of 0, 1, 2, 3 is 1.5 and the variance 1.25.
  for (int i = 0; i < 4; ++i) {
    const double expected = (i - 1.5) / std::sqrt(1.25 + 1e-5);
    require(std::abs(output[i] - expected) < 1e-5, "the graph computes something else");
  }
}

// Checks that errors of the library can be caught by their own types.
void fail_to_load() {
  try {
    Model::load("/no/such/folder");
  } catch (const FileError& error) {
    std::cout << error.what() << '\n';
    return;
  }
  require(false, "a folder that is not there was loaded");
}

void run_a_model(const char* folder) {
  const Model model = Model::load(folder, {.threads = 1});
  const auto results = model.generate({"hello"});
  require(results.size() == 1 && !results[0].hypotheses.empty(), "no result");
  require(!results[0].hypotheses[0].text.empty(), "an empty result");
  std::cout << "hello -> " << results[0].hypotheses[0].text << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run_a_graph();
    fail_to_load();
    if (argc > 1) run_a_model(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
