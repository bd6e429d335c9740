#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// The content of a .pt file of openai/whisper.
struct OpenAiModel {
  JsonObject sizes;  // see whisper_sizes()
  std::shared_ptr<WeightStore> weights;
};

// Reads a file in which torch.save stored {"dims": {...}, "model_state_dict": {...}}; pytorch.h says which files are
// refused. Throws FileError, naming the file, if "dims" is missing or has sizes that no model has.
OpenAiModel read_openai(const std::filesystem::path& file, std::vector<std::string>* notes = nullptr);
// Reads only the sizes; nullopt if the file has none.
std::optional<JsonObject> read_openai_sizes(const std::filesystem::path& file);

// The same for the bytes of a file.
OpenAiModel parse_openai(const FileBytes& file, std::vector<std::string>* notes = nullptr);
std::optional<JsonObject> parse_openai_sizes(const FileBytes& file);

}  // namespace encdec
