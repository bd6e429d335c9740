#pragma once

#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/network/config.h"

namespace encdec {

// A checkpoint's network: its structure, and the stored names of its tensors.
struct ModelDescription {
  TransformerConfig config;
  WeightNames weight_names;
  // Parts of the names of tensors that checkpoints usually contain but that are not used, such as training heads.
  std::vector<std::string_view> usually_unused = {"pooler",      "lm_head.",    "cls.",        "predictions.",
                                                  "classifier.", "qa_outputs.", "position_ids"};
};

// Describes a checkpoint, from the model_type in config.json (see families.h) or from the format's own settings. Throws
// ConfigError, naming the file, for contradictory settings, and UnsupportedModelError, listing the supported choices,
// for a model that is not supported.
ModelDescription describe_model(const Checkpoint& checkpoint);

// Describes a folder that CTranslate2 has converted. The weights include the settings.
ModelDescription describe_ctranslate2(const Checkpoint& checkpoint);

// Describes a .npz or .bin file in Marian's own format, which contains settings in YAML.
ModelDescription describe_marian(const Checkpoint& checkpoint);

}  // namespace encdec
