// In place of yaml.cc, in a build without the formats that need libyaml.
#include <nlohmann/json.hpp>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/yaml.h"

namespace encdec {
namespace {

[[noreturn]] void refuse_yaml(const std::string& file) {
  refuse<UnsupportedModelError>(file,
                                "YAML, which this build does not read, expected a build with marian in "
                                "ENCDEC_FORMATS");
}

}  // namespace

nlohmann::json parse_yaml(std::string_view /*text*/, const std::string& file) {
  refuse_yaml(file);
}

JsonObject read_yaml_object(const std::filesystem::path& path, std::size_t /*max_bytes*/) {
  refuse_yaml(path.string());
}

}  // namespace encdec
