#pragma once

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/layers/attention_fixture.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"
#include "universal_transformer/universal_transformer.h"

// Universal Transformers with random weights, and batches for them.
namespace lessons::universal {

using Ids = std::vector<std::int32_t>;
using Batch = std::vector<Ids>;
using Weights = std::map<std::string, Tensor>;

inline constexpr int kSourceVocabulary = 23, kTargetVocabulary = 17;

struct Sizes {
  Dim model_dim;
  int heads;
  Dim hidden_dim;
};
inline constexpr std::array kSizes = {Sizes{1, 1, 1}, Sizes{6, 3, 7}, Sizes{7, 1, 13}, Sizes{15, 5, 31},
                                      Sizes{32, 2, 64}};

// Kinds of loops: a fixed number of steps, or adaptive halting, where halted positions are transformed on or copied.
enum class Loop { fixed, transformed, copied };
inline constexpr std::array kLoops = {Loop::fixed, Loop::transformed, Loop::copied};

inline UniversalTransformerConfig config_for(const Sizes& sizes, Loop loop, int steps) {
  UniversalStackConfig stack{.vocabulary = kSourceVocabulary, .embedding_scale = 1.5f, .steps = steps};
  if (loop != Loop::fixed) stack.halting_threshold = 0.9f;
  if (loop == Loop::copied) stack.halted_state = HaltedState::copied;
  UniversalTransformerConfig config{.model_dim = sizes.model_dim,
                                    .heads = sizes.heads,
                                    .hidden_dim = sizes.hidden_dim,
                                    .encoder = stack,
                                    .decoder = stack};
  config.decoder.vocabulary = kTargetVocabulary;
  return config;
}

inline void add(Weights& all, const std::string& scope, const Weights& part) {
  for (const auto& [name, tensor] : part) all[scope + "." + name] = tensor;
}

inline Weights weights_for(const UniversalTransformerConfig& config, std::uint64_t seed = 1) {
  RandomTensors random(seed);
  const Dim model = config.model_dim, hidden = config.hidden_dim;
  const auto map = [&](Dim outputs, Dim inputs) {
    const double limit = std::sqrt(3.0 / static_cast<double>(inputs));
    return Weights{{"weight", random.uniform({outputs, inputs}, limit)}, {"bias", random.uniform({outputs}, 0.5)}};
  };
  Weights all;
  for (const std::string side : {"encoder", "decoder"}) {
    const bool encoder = side == "encoder";
    all[side + ".embedding.weight"] = random.uniform({encoder ? kSourceVocabulary : kTargetVocabulary, model});
    add(all, side + ".self_attention", attention_weights(random, config.attention()));
    if (!encoder) add(all, side + ".cross_attention", attention_weights(random, config.attention()));
    add(all, side + ".transition.expand", map(hidden, model));
    add(all, side + ".transition.project", map(model, hidden));
    for (const std::string norm : {"self_attention_norm", "cross_attention_norm", "transition_norm"}) {
      if (encoder && norm == "cross_attention_norm") continue;
      add(all, side + "." + norm, {{"weight", random.uniform({model})}, {"bias", random.uniform({model})}});
    }
    if (config.encoder.halting_threshold) add(all, side + ".halting", map(1, model));
  }
  add(all, "output_projection", map(kTargetVocabulary, model));
  return all;
}

inline std::shared_ptr<const UniversalTransformer> make_model(const UniversalTransformerConfig& config,
                                                              const PackOptions& pack = {}) {
  return std::make_shared<const UniversalTransformer>(config, make_scope(weights_for(config), pack));
}

inline Batch random_batch(std::uint64_t seed, const std::vector<int>& lengths, int vocabulary) {
  RandomTensors random(seed);
  Batch batch;
  for (const int length : lengths) {
    const Tensor ids = random.ids(length, vocabulary);
    batch.emplace_back(ids.data<std::int32_t>(), ids.data<std::int32_t>() + length);
  }
  return batch;
}

inline const std::vector<int> kSourceLengths = {5, 1, 9, 3};
inline const std::vector<int> kTargetLengths = {4, 6, 1, 8};
inline Batch sources() {
  return random_batch(7, kSourceLengths, kSourceVocabulary);
}
inline Batch targets() {
  return random_batch(8, kTargetLengths, kTargetVocabulary);
}

}  // namespace lessons::universal
