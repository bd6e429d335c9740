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

std::string_view to_string(CheckpointFormat format);

struct CheckpointSettings {
  // Kind of keys in `network`.
  enum class Form {
    transformers,  // keys of config.json; `network` equals `config`
    ctranslate2,   // spec_name and spec_revision; the other settings are variables among the weights
    marian,        // keys of Marian's options: "dim-emb", ...
  };
  Form form = Form::transformers;
  std::optional<JsonObject> network = {};  // sizes and kinds of layers
  std::optional<JsonObject> config = {};   // config.json, plus special tokens that the format stores elsewhere
  // Whether `config` contains special tokens as text (eos_token) instead of as ids (eos_token_id).
  bool tokens_are_texts = false;
};

struct Checkpoint {
  std::filesystem::path folder = {};
  CheckpointFormat format = CheckpointFormat::safetensors;  // format of the weights
  CheckpointSettings settings = {};
  std::shared_ptr<const WeightStore> weights = {};  // by stored name
  std::vector<std::string> notes = {};              // notes for the user
};

// Opens a folder as it was published. The weights are the first of these that exist:
// - model.bin of CTranslate2, if config.json is missing or has no model_type;
// - model.safetensors, or the files listed in its index;
// - pytorch_model.bin, or the files listed in its index;
// - a model in one of Marian's own formats, .npz or .bin (see MarianFiles).
// Throws FileError if the folder does not exist or has no weights (the message lists its files), or
// if a file is invalid; UnsupportedModelError if this build does not include the format. Does not
// check that weights and settings fit together.
Checkpoint open_checkpoint(const std::filesystem::path& folder);

// Returns the same config.json as open_checkpoint(), or nullopt, but opens as little of the weights
// as possible. The folder may have no weights. Throws as open_checkpoint() does.
std::optional<JsonObject> read_config(const std::filesystem::path& folder);

// Reads the tensors of a file that torch.save wrote. Throws as open_checkpoint() does.
std::shared_ptr<const WeightStore> read_torch_tensors(const std::filesystem::path& file);

}  // namespace encdec
