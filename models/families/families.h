#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/families/model_description.h"

namespace encdec {

// A family of checkpoints. To add a family, add a row to one of the files below, or add a file.
struct Family {
  std::string_view model_type;  // model_type in config.json and in the TransformerConfig
  // Describes a checkpoint; transformer.h lists the canonical names. Throws ConfigError.
  std::function<ModelDescription(const JsonObject& config, const WeightStore& weights)> describe;
  // Additions to ModelDescription::usually_unused.
  std::vector<std::string_view> usually_unused = {};
};

// The files in this folder that define families. NAME.cc defines NAME_families().
#define ENCDEC_FAMILY_FILES(FILE) \
  FILE(bart)                      \
  FILE(bert)                      \
  FILE(gpt2)                      \
  FILE(llama)                     \
  FILE(moonshine)                 \
  FILE(rotary_encoders)           \
  FILE(t5)                        \
  FILE(t5gemma)                   \
  FILE(whisper)

#define ENCDEC_DECLARE_FAMILIES(name) std::vector<Family> name##_families();
ENCDEC_FAMILY_FILES(ENCDEC_DECLARE_FAMILIES)
#undef ENCDEC_DECLARE_FAMILIES

}  // namespace encdec
