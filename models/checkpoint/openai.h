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

// What a .pt file of openai/whisper holds.
struct OpenAiModel {
  JsonObject sizes;  // see whisper_sizes
  std::shared_ptr<WeightStore> weights;
};

// Reads a file that torch.save wrote of {"dims": {...}, "model_state_dict": {...}}: see pytorch.h, which also tells
// what is refused. Throws FileError, naming the file, for one without "dims", or with sizes that no model has.
OpenAiModel read_openai(const std::filesystem::path& file, std::vector<std::string>* notes = nullptr);
// Its sizes alone; nullopt for a file of torch.save that has none.
std::optional<JsonObject> read_openai_sizes(const std::filesystem::path& file);

// The same for a file that is given as its bytes.
OpenAiModel parse_openai(const FileBytes& file, std::vector<std::string>* notes = nullptr);
std::optional<JsonObject> parse_openai_sizes(const FileBytes& file);

}  // namespace encdec
