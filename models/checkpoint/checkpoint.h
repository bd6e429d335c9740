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

// Returns "safetensors", "pytorch", ...
std::string_view to_string(CheckpointFormat format);

// The settings and weights of a checkpoint, read from any of the formats.
struct Checkpoint {
  std::filesystem::path folder;                             // folder of the checkpoint; for some formats a file
  CheckpointFormat format = CheckpointFormat::safetensors;  // format of the weights
  // config.json. For CTranslate2 the result of token_settings(), for ggml and openai that of whisper_settings().
  std::optional<JsonObject> config;
  std::shared_ptr<const WeightStore> weights;  // by their names in the file
  std::vector<std::string> notes;              // lines for users

  // Set for CTranslate2 only.
  std::string spec_name;
  std::uint32_t spec_revision = 0;  // revision of the specification

  // For Marian's own format: the settings inside the model ("special:model.yml"). For ggml and openai: the sizes in the
  // file; see whisper_sizes().
  std::optional<JsonObject> options;
  std::optional<JsonObject> decoder_options;  // decoder.yml of Marian
};

// Opens a folder in the form in which it was published. The weights are the first of these that exist:
// - model.bin of CTranslate2, if config.json is missing or has no model_type, which shows a converted model;
// - model.safetensors, or the files that its index lists;
// - pytorch_model.bin, or the files that its index lists;
// - the only .npz file, or the one that decoder.yml names under 'models';
// - the file that find_whisper_file() finds. A path to such a file is accepted too.
// Throws FileError if the folder does not exist or is no folder, if it has no weights (the message lists its files), or
// if a reader of these formats refuses a file. Does not check that weights and settings fit together.
Checkpoint open_checkpoint(const std::filesystem::path& folder_or_file);

// A file that holds a whole Whisper model.
struct WhisperFile {
  std::filesystem::path path;
  CheckpointFormat format = CheckpointFormat::ggml;
};
// Finds a file that holds a whole Whisper model. A path to a file is accepted if the content begins as whisper.cpp's
// ggml, or if the name ends with .pt (openai/whisper). In a folder it is the only ggml-*.bin, or else the only .pt
// file, if that contains Whisper's sizes; other files of the folder do not matter. Returns nullopt if there is none.
// Throws FileError for a folder with several ggml-*.bin.
std::optional<WhisperFile> find_whisper_file(const std::filesystem::path& folder_or_file);

// The tensor of a ggml file that holds the bands of its spectrogram.
inline constexpr std::string_view kMelFilters = "mel_filters";

// Names of openai/whisper's vocabulary files, which may stand beside a .pt file.
inline constexpr const char* kTiktokenFiles[] = {"multilingual.tiktoken", "gpt2.tiktoken"};

}  // namespace encdec
