#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/safetensors.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// The models of tests/golden/moonshine/.
inline constexpr std::array kMoonshineModels = {"old_keys", "untied", "streaming", "streaming_tied"};
inline const std::filesystem::path kMoonshine = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "moonshine";

// Returns the clips that the models were asked for: samples [n, 1].
inline std::vector<Tensor> moonshine_clips() {
  static const auto store = read_safetensors(kMoonshine / "clips.safetensors");
  std::vector<Tensor> clips;
  for (const auto& [name, clip] : store->tensors()) clips.push_back(clip.reshape({clip.elements(), 1}));
  return clips;
}

// Returns int32 numbers of a file.
inline TokenIds ids_in(const WeightStore& store, const std::string& name) {
  const Tensor& ids = *store.find(name);
  return {ids.data<std::int32_t>(), ids.data<std::int32_t>() + ids.elements()};
}

}  // namespace encdec
