// Replaces yaml.cc and unpacked_file.cc in a build without Marian's format, which needs libyaml and
// libzstd. All functions throw UnsupportedModelError.
#include <nlohmann/json.hpp>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/unpacked_file.h"
#include "encdec/models/checkpoint/yaml.h"

namespace encdec {
namespace {

[[noreturn]] void refuse_marian(const std::string& file) {
  refuse<UnsupportedModelError>(file,
                                "a Marian file, which this build does not read, expected a build with marian in "
                                "ENCDEC_FORMATS");
}

}  // namespace

nlohmann::json parse_yaml(std::string_view /*text*/, const std::string& file) {
  refuse_marian(file);
}

JsonObject read_yaml_object(const std::filesystem::path& path, std::size_t /*max_bytes*/) {
  refuse_marian(path.string());
}

FileBytes read_unpacked(const std::filesystem::path& path) {
  refuse_marian(path.string());
}

}  // namespace encdec
