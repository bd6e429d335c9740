#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {

// A folder in which the formats look for weights.
struct CheckpointSource {
  std::filesystem::path path;
  std::vector<std::string> names = {};    // names in the folder, sorted
  std::optional<JsonObject> config = {};  // config.json of the folder

  bool has(std::string_view name) const;
  // Returns `path` if the folder has the file, or its index `name`.index.json; otherwise nullopt.
  std::optional<std::filesystem::path> with_weights(const std::string& name) const {
    return has(name) || has(name + ".index.json") ? std::optional(path) : std::nullopt;
  }
};

// A format of checkpoints.
struct FormatRow {
  CheckpointFormat format;  // format that it opens; the first one, if there are several
  std::string_view files;   // its files, for messages: "one .npz file"

  // Returns what open() takes, nullopt if the source has no weights of this format. Throws FileError if the source has
  // too many.
  std::optional<std::filesystem::path> (*find)(const CheckpointSource& source);
  // Sets format, weights, notes and settings of a checkpoint, which has its folder and the settings of config.json.
  void (*open)(const std::filesystem::path& weights, Checkpoint& checkpoint);

  // Changes config.json as open() does. Null if open() does not.
  std::optional<JsonObject> (*read_config)(const std::filesystem::path& weights,
                                           std::optional<JsonObject> config) = nullptr;
};

// The formats, in the order in which open_checkpoint() looks for them. NAME_format() returns the row of NAME. Behind
// the name are the patterns of the files by which a build without this format recognises it.
#define ENCDEC_FORMAT_ROWS(FORMAT)         \
  FORMAT(ctranslate2, "model.bin")         \
  FORMAT(safetensors, "model.safetensors") \
  FORMAT(pytorch, "pytorch_model*.bin")    \
  FORMAT(marian, "*.npz", "model*.bin", "model*.bin.gz", "model*.bin.zst")

#define ENCDEC_DECLARE_FORMAT(name, ...) FormatRow name##_format();
ENCDEC_FORMAT_ROWS(ENCDEC_DECLARE_FORMAT)
#undef ENCDEC_DECLARE_FORMAT

}  // namespace encdec
