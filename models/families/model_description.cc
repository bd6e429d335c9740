#include "encdec/models/families/model_description.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/families/families.h"

namespace encdec {
namespace {

// Returns the families that the files in this folder define, sorted by model_type.
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

// Returns the family that config.json's model_type names.
const Family& find_family(const JsonObject& config) {
  const std::string model_type = config.required_string("model_type");
  const auto found = std::ranges::find(all_families(), model_type, &Family::model_type);
  if (found != all_families().end()) return *found;
  refuse<UnsupportedModelError>(config.file(), "model_type '{}' is not supported, expected one of '{}'",
                                printable(model_type),
                                fmt::join(all_families() | std::views::transform(&Family::model_type), "', '"));
}

}  // namespace

ModelDescription describe_model(const Checkpoint& checkpoint) {
  using enum CheckpointSettings::Form;
  switch (checkpoint.settings.form) {
    case transformers: break;
    case ctranslate2: return describe_ctranslate2(checkpoint);
    case marian: return describe_marian(checkpoint);
  }
  const auto& config = checkpoint.settings.network;
  if (!config) {
    refuse<ConfigError>(checkpoint.folder.string(), "no config.json, expected one that names the model_type");
  }
  const Family& family = find_family(*config);
  ModelDescription description = family.describe(*config, *checkpoint.weights);
  description.config.model_type = family.model_type;
  description.usually_unused.insert(description.usually_unused.end(), family.usually_unused.begin(),
                                    family.usually_unused.end());
  return description;
}

}  // namespace encdec
