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

enum class CheckpointFormat { safetensors, pytorch, npz, ctranslate2 };

// "safetensors", "pytorch", ...
std::string_view to_string(CheckpointFormat format);

// The settings and weights of a checkpoint folder, in whichever format they are there.
struct Checkpoint {
  std::filesystem::path folder;                             // where it is
  CheckpointFormat format = CheckpointFormat::safetensors;  // of the weights
  std::optional<JsonObject> config;                         // config.json; of CTranslate2 what token_settings() gives
  std::shared_ptr<const WeightStore> weights;               // under the names that the file gives them
  std::vector<std::string> notes;                           // lines for users

  // CTranslate2's only.
  std::string spec_name;
  std::uint32_t spec_revision = 0;  // of that specification

  // Marian's own format only: the settings that its model holds ("special:model.yml"), and decoder.yml.
  std::optional<JsonObject> options;
  std::optional<JsonObject> decoder_options;  // of its decoder.yml
};

// Opens a folder as its publisher ships it. The weights are the first of these that are there:
// - model.bin of CTranslate2, where config.json is missing or names no model_type: that is a converted model's;
// - model.safetensors, or the files of its index;
// - pytorch_model.bin, or the files of its index;
// - the one .npz file, or the one that decoder.yml names under 'models'.
// Throws FileError if the folder does not exist or is none, if it has none of these, and then says what it has instead,
// and where a reader of these formats refuses a file. Weights are not compared with settings.
Checkpoint open_checkpoint(const std::filesystem::path& folder);

}  // namespace encdec
