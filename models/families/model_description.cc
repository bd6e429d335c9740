#include "encdec/models/families/model_description.h"

#include <algorithm>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/families.h"

namespace encdec {
namespace {

// Sorted by model_type.
const std::vector<Family>& all_families() {
  static const std::vector<Family> families = [] {
    std::vector<Family> all;
    const auto add = [&all](std::vector<Family> some) { std::ranges::move(some, std::back_inserter(all)); };
#define ENCDEC_ADD_FAMILIES(name) add(name##_families());
    ENCDEC_FAMILY_FILES(ENCDEC_ADD_FAMILIES)
#undef ENCDEC_ADD_FAMILIES
    std::ranges::sort(all, {}, &Family::model_type);
    return all;
  }();
  return families;
}

const Family& find_family(const JsonObject& config) {
  const std::string model_type = config.required_string("model_type");
  const auto found = std::ranges::find(all_families(), model_type, &Family::model_type);
  if (found != all_families().end()) return *found;
  std::string names;
  for (const Family& family : all_families()) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", family.model_type);
  }
  refuse<UnsupportedModelError>(config.file(), "model_type '{}' is not supported, expected one of {}",
                                printable(model_type), names);
}

}  // namespace

ModelDescription describe_model(const Checkpoint& checkpoint) {
  if (checkpoint.format == CheckpointFormat::ctranslate2) return describe_ctranslate2(checkpoint);
  if (checkpoint.format == CheckpointFormat::npz) return describe_marian_npz(checkpoint);
  if (checkpoint.format == CheckpointFormat::ggml || checkpoint.format == CheckpointFormat::openai) {
    return describe_openai_whisper(checkpoint);
  }
  if (!checkpoint.config) {
    refuse<ConfigError>(checkpoint.folder.string(), "no config.json, expected one that names the model_type");
  }
  const Family& family = find_family(*checkpoint.config);
  ModelDescription description = family.describe(*checkpoint.config, *checkpoint.weights);
  description.config.model_type = family.model_type;
  return description;
}

}  // namespace encdec
