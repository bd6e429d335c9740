#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {

enum class CheckpointFormat { safetensors, pytorch, npz, marian, ctranslate2 };

// Returns "safetensors", "pytorch", ...
std::string_view to_string(CheckpointFormat format);

// The settings of a checkpoint, whatever its format.
struct CheckpointSettings {
  // The keys in `network`.
  enum class Form {
    transformers,  // keys of config.json; `network` equals `config`
    ctranslate2,   // spec_name and spec_revision; other settings are variables among the weights
    marian,        // keys of Marian's options: "dim-emb", ...
  };
  Form form = Form::transformers;
  std::optional<JsonObject> network = {};  // sizes and kinds of layers
  std::optional<JsonObject> config = {};   // config.json; the format may add special tokens that it stores elsewhere
  bool tokens_are_texts = false;  // `config` names special tokens by their texts (eos_token), not ids (eos_token_id)
};

// The settings and weights of a checkpoint, read from any of the formats.
struct Checkpoint {
  std::filesystem::path folder = {};                        // folder of the checkpoint
  CheckpointFormat format = CheckpointFormat::safetensors;  // format of the weights
  CheckpointSettings settings = {};
  std::shared_ptr<const WeightStore> weights = {};  // by their names in the file
  std::vector<std::string> notes = {};              // lines for users
};

// Opens a folder in the form in which it was published. The weights are the first of these that exist:
// - model.bin of CTranslate2, if config.json is missing or has no model_type, which shows a converted model;
// - model.safetensors, or the files that its index lists;
// - pytorch_model.bin, or the files that its index lists;
// - a model in one of Marian's own formats, .npz or .bin: see MarianFiles.
// Throws FileError if the folder does not exist or is no folder, if it has no weights (the message lists its files), or
// if a reader of these formats refuses a file; UnsupportedModelError if this build was made without the format of the
// weights. Does not check that weights and settings fit together.
Checkpoint open_checkpoint(const std::filesystem::path& folder);

// Returns the config.json that open_checkpoint() returns, without opening more of the weights than that needs. nullopt
// if there is none. The folder may have no weights. Throws as open_checkpoint() does.
std::optional<JsonObject> read_config(const std::filesystem::path& folder);

// Reads the tensors of a file that torch.save wrote. Throws as open_checkpoint() does.
std::shared_ptr<const WeightStore> read_torch_tensors(const std::filesystem::path& file);

}  // namespace encdec
