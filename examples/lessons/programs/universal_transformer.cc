// A Universal Transformer: one block, applied repeatedly, with and without adaptive halting.
#include "programs/pictures.h"
#include "universal_transformer/universal_session.h"

namespace {

using namespace lessons;

constexpr Dim kModel = 16, kHidden = 32, kVocabulary = 10;
constexpr int kSteps = 8;

// Random weights, as in an untrained model, from a linear congruential generator.
class Weights {
 public:
  // Adds a tensor with elements in [mean - limit, mean + limit).
  void add(const std::string& name, const Shape& shape, float limit = 0.6f, float mean = 0.0f) {
    Tensor tensor = Tensor::allocate(shape);
    for (Dim i = 0; i < tensor.elements(); ++i) {
      state_ = state_ * 1664525u + 1013904223u;
      tensor.data<float>()[i] = mean + limit * (static_cast<float>(state_ >> 8) / 0x1p23f - 1.0f);
    }
    all_.emplace_back(name, tensor);
  }
  void add_linear(const std::string& name, Dim out, Dim in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }
  void add_norm(const std::string& name) {
    add(name + ".weight", {kModel}, 0.2f, 1.0f);
    add(name + ".bias", {kModel}, 0.2f);
  }
  WeightScope scope() const { return weights_of(all_); }

 private:
  std::vector<std::pair<std::string, Tensor>> all_;
  std::uint32_t state_ = 5;
};

// Returns the weights that UniversalTransformer needs, under its names.
WeightScope random_weights() {
  Weights all;
  for (const std::string side : {"encoder", "decoder"}) {
    all.add(side + ".embedding.weight", {kVocabulary, kModel}, 1.5f);
    for (const std::string attention : {"self_attention", "cross_attention"}) {
      if (side == "encoder" && attention == "cross_attention") continue;
      for (const char* part : {"query", "key", "value", "output"}) {
        all.add_linear(side + "." + attention + "." + part, kModel, kModel);
      }
      all.add_norm(side + "." + attention + "_norm");
    }
    all.add_linear(side + ".transition.expand", kHidden, kModel);
    all.add_linear(side + ".transition.project", kModel, kHidden);
    all.add_norm(side + ".transition_norm");
    all.add_linear(side + ".halting", 1, kModel);
  }
  all.add_linear("output_projection", kVocabulary, kModel);
  return all.scope();
}

// Returns a session of a model, with adaptive halting if there is a threshold.
UniversalSession session(std::optional<float> threshold) {
  const UniversalStackConfig stack{.vocabulary = kVocabulary, .steps = kSteps, .halting_threshold = threshold};
  const UniversalTransformerConfig config{
      .model_dim = kModel, .heads = 2, .hidden_dim = kHidden, .encoder = stack, .decoder = stack};
  return UniversalSession(std::make_shared<const UniversalTransformer>(config, random_weights()));
}

void run_lesson(bool svg) {
  const std::vector<UniversalSession::TokenIds> source = {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}};
  // For each threshold, show which positions take each step.
  std::vector<HeatMap> maps;
  for (const float threshold : {0.5f, 0.9f, 0.99f}) {
    UniversalSession adaptive = session(threshold);
    const auto encoded = adaptive.encode(source);
    HeatMap map{fmt::format("threshold {}: {} steps", threshold, encoded.steps),
                Tensor::allocate({kSteps, static_cast<Dim>(source[0].size())})};
    for (int step = 0; step < kSteps; ++step) {
      map.names.push_back(fmt::format("step {}", step + 1));
      for (std::size_t i = 0; i < source[0].size(); ++i) {
        map.values.row(step)[i] = encoded.updates[i] > step ? 1.0f : 0.0f;
      }
    }
    maps.push_back(map);
  }
  if (svg) return print_svg(maps);
  fmt::print("Positions (columns) that take each step (rows), for {} tokens:\n\n", source[0].size());
  print_maps(maps);

  // Without halting, every position takes all steps.
  UniversalSession fixed = session(std::nullopt);
  fmt::print("without halting: {} steps for every position\n", fixed.encode(source).steps);
  const std::vector<UniversalSession::TokenIds> target = {{7}};
  fmt::print("first token of the target: logits of {} tokens\n", fixed.decode(target).width());
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, run_lesson);
}
