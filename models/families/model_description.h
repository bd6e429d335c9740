#pragma once

#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/network/config.h"

namespace encdec {

// A description of a checkpoint's network: its structure, and the stored names of its tensors.
struct ModelDescription {
  TransformerConfig config;
  WeightNames weight_names;
  // Parts of the names of tensors that usual checkpoints have and the network does not use: heads for training and for
  // other tasks, second copies of tensors.
  std::vector<std::string_view> usually_unused = {"pooler",      "lm_head.",    "cls.",        "predictions.",
                                                  "classifier.", "qa_outputs.", "position_ids"};
};

// Describes a checkpoint by config.json's model_type (see families.h). Formats with settings of their own are described
// by the settings in the file of the weights. Throws ConfigError, naming the file, for settings that contradict each
// other, and UnsupportedModelError, listing the supported choices, for anything not supported.
ModelDescription describe_model(const Checkpoint& checkpoint);

// The same for folders converted by CTranslate2. The settings are variables in model.bin.
ModelDescription describe_ctranslate2(const Checkpoint& checkpoint);

// The same for Marian's own .npz and .bin files. The settings are YAML inside the file.
ModelDescription describe_marian(const Checkpoint& checkpoint);

}  // namespace encdec
