#include "encdec/models/families/model_description.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"
#include "encdec/models/families/families.h"

namespace encdec {

ModelDescription describe_model(const Checkpoint& checkpoint) {
  if (checkpoint.format == CheckpointFormat::ctranslate2) return describe_ctranslate2(checkpoint);
  if (checkpoint.format == CheckpointFormat::npz) return describe_marian_npz(checkpoint);
  if (!checkpoint.config) {
    throw ConfigError(
        fmt::format("{}: no config.json, expected one that tells the model_type", checkpoint.folder.string()));
  }
  const Family& family = find_family(*checkpoint.config);
  return {family.read_config(*checkpoint.config), family.weight_names(*checkpoint.config, *checkpoint.weights)};
}

}  // namespace encdec
