#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "tests/support/safetensors_writer.h"
#include "tools/speech/tests/golden_speech.h"

namespace encdec {

// Returns noise that is alternately loud and quiet.
inline std::vector<float> voice_activity_samples(std::size_t count) {
  std::vector<float> samples = golden_noise(0, count);
  for (std::size_t i = 0; i < count; ++i) samples[i] *= i / 3000 % 2 == 0 ? 0.5F : 1.0F / 64;
  return samples;
}

// Returns random tensors with the names and shapes of silero_vad_16k.safetensors.
inline std::vector<NamedTensor> random_voice_activity() {
  std::vector<NamedTensor> tensors;
  const auto golden = golden_speech("voice_activity")[0];
  for (const auto& json : golden.at("tensors")) {
    const auto dims = json.at("shape").get<std::vector<Dim>>();
    const Shape shape = dims.size() == 3   ? Shape{dims[0], dims[1], dims[2]}
                        : dims.size() == 2 ? Shape{dims[0], dims[1]}
                                           : Shape{dims[0]};
    Tensor tensor = Tensor::allocate(shape);
    const auto values = golden_noise(tensors.size() + 1, static_cast<std::size_t>(tensor.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) tensor.data<float>()[i] = values[i] * json.at("limit").get<float>();
    tensors.push_back({json.at("name"), tensor});
  }
  return tensors;
}

inline WeightScope weights_of(const std::vector<NamedTensor>& tensors) {
  const auto store = std::make_shared<WeightStore>("memory");
  for (const NamedTensor& named : tensors) store->add(named.name, named.tensor);
  return WeightScope(store);
}

}  // namespace encdec
