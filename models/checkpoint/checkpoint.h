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

enum class CheckpointFormat { safetensors, pytorch, npz, ctranslate2, ggml, openai };

// "safetensors", "pytorch", ...
std::string_view to_string(CheckpointFormat format);

// The settings and weights of a checkpoint, in whichever format they are there.
struct Checkpoint {
  std::filesystem::path folder;                             // where it is; of some formats a file
  CheckpointFormat format = CheckpointFormat::safetensors;  // of the weights
  // config.json; of CTranslate2 what token_settings() gives, of ggml and openai what whisper_settings() does.
  std::optional<JsonObject> config;
  std::shared_ptr<const WeightStore> weights;  // under the names that the file gives them
  std::vector<std::string> notes;              // lines for users

  // CTranslate2's only.
  std::string spec_name;
  std::uint32_t spec_revision = 0;  // of that specification

  // Marian's own format: the settings that its model holds ("special:model.yml"). ggml and openai: the sizes that the
  // file holds, see whisper_sizes().
  std::optional<JsonObject> options;
  std::optional<JsonObject> decoder_options;  // Marian's decoder.yml
};

// Opens a folder as its publisher ships it. The weights are the first of these that are there:
// - model.bin of CTranslate2, where config.json is missing or names no model_type: that is a converted model's;
// - model.safetensors, or the files of its index;
// - pytorch_model.bin, or the files of its index;
// - the one .npz file, or the one that decoder.yml names under 'models';
// - the file that find_whisper_file() finds, as which a path to such a file is taken too.
// Throws FileError if the folder does not exist or is none, if it has none of these, and then says what it has instead,
// and where a reader of these formats refuses a file. Weights are not compared with settings.
Checkpoint open_checkpoint(const std::filesystem::path& folder_or_file);

// A file that is a whole model of Whisper.
struct WhisperFile {
  std::filesystem::path path;
  CheckpointFormat format = CheckpointFormat::ggml;
};
// The path itself, if it is a file: of whisper.cpp's ggml by how it begins, or one of openai/whisper whose name ends
// with .pt; or such a file of a folder, whatever else the folder has: the only ggml-*.bin, or else the only .pt file if
// it has sizes. nullopt for others. Throws FileError for a folder with several ggml-*.bin.
std::optional<WhisperFile> find_whisper_file(const std::filesystem::path& folder_or_file);

// The tensor of a ggml file that holds the bands of its spectrogram.
inline constexpr std::string_view kMelFilters = "mel_filters";

// Names of openai's vocabularies, which may lie beside a .pt file.
inline constexpr const char* kTiktokenFiles[] = {"multilingual.tiktoken", "gpt2.tiktoken"};

}  // namespace encdec
