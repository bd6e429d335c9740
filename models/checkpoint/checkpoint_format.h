#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {

// A folder in which the formats search for weights.
struct CheckpointFolder {
  std::filesystem::path path;
  std::vector<std::string> names = {};    // file names, sorted
  std::optional<JsonObject> config = {};  // the folder's config.json

  bool has(std::string_view name) const;
  // Returns `path` if the folder contains `name` or the index `name`.index.json; otherwise nullopt.
  std::optional<std::filesystem::path> with_weights(const std::string& name) const {
    return has(name) || has(name + ".index.json") ? std::optional(path) : std::nullopt;
  }
};

struct FormatRow {
  CheckpointFormat format;  // the format, or the first of several
  std::string_view files;   // the format's files, for error messages: "one .npz file"

  // Returns the path to pass to open(); nullopt if `folder` has no weights of this format. Throws
  // FileError if several files could be the weights.
  std::optional<std::filesystem::path> (*find)(const CheckpointFolder& folder);
  // Sets the format, weights, notes and settings of `checkpoint`. REQUIRES: its folder and the
  // settings of config.json are set.
  void (*open)(const std::filesystem::path& weights, Checkpoint& checkpoint);

  // Changes config.json as open() does. Null if open() leaves config.json unchanged.
  std::optional<JsonObject> (*read_config)(const std::filesystem::path& weights,
                                           std::optional<JsonObject> config) = nullptr;
};

// The formats in the order in which open_checkpoint() tries them; NAME_format() describes NAME. A build without a
// format recognises the format's files by the patterns.
#define ENCDEC_FORMAT_ROWS(FORMAT)         \
  FORMAT(ctranslate2, "model.bin")         \
  FORMAT(safetensors, "model.safetensors") \
  FORMAT(pytorch, "pytorch_model*.bin")    \
  FORMAT(marian, "*.npz", "model*.bin", "model*.bin.gz", "model*.bin.zst")

#define ENCDEC_DECLARE_FORMAT(name, ...) FormatRow name##_format();
ENCDEC_FORMAT_ROWS(ENCDEC_DECLARE_FORMAT)
#undef ENCDEC_DECLARE_FORMAT

}  // namespace encdec
