#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/families/model_description.h"

namespace encdec {

// A family of checkpoints: how its config.json reads, and what it calls the tensors. Data: a new one is a row of a file
// below, or a file of its own.
struct Family {
  std::string_view model_type;  // in config.json, and that of the TransformerConfig
  // Weight names are for the canonical names that transformer.h tells. Throws ConfigError, naming the file
  // and the key.
  std::function<ModelDescription(const JsonObject& config, const WeightStore& weights)> describe;
};

// The files of this folder that define families: NAME.cc defines NAME_families().
#define ENCDEC_FAMILY_FILES(FILE) \
  FILE(bart)                      \
  FILE(bert)                      \
  FILE(gpt2)                      \
  FILE(t5)                        \
  FILE(whisper)

#define ENCDEC_DECLARE_FAMILIES(name) std::vector<Family> name##_families();
ENCDEC_FAMILY_FILES(ENCDEC_DECLARE_FAMILIES)
#undef ENCDEC_DECLARE_FAMILIES

}  // namespace encdec
