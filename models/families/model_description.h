#pragma once

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/network/config.h"

namespace encdec {

// How to build the network of a checkpoint: its structure, and where its tensors are.
struct ModelDescription {
  TransformerConfig config;
  WeightNames weight_names;
};

// By config.json's model_type (see families.h), or by what formats with settings of their own say in the file of their
// weights. Throws ConfigError, naming the file, for what contradicts itself, and UnsupportedModelError for what is not
// supported, listing what is.
ModelDescription describe_model(const Checkpoint& checkpoint);

// The same for folders that CTranslate2 has converted. Settings are variables of the model.bin.
ModelDescription describe_ctranslate2(const Checkpoint& checkpoint);

// The same for openai/whisper's .pt files and whisper.cpp's ggml files. "mel_filters" is a canonical name too.
ModelDescription describe_openai_whisper(const Checkpoint& checkpoint);

// The same for Marian's own .npz files. Settings are YAML inside them.
ModelDescription describe_marian_npz(const Checkpoint& checkpoint);

}  // namespace encdec
