// In place of the readers of all formats but safetensors, in a build without them (ENCDEC_FORMATS=OFF).
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/ctranslate2.h"
#include "encdec/models/checkpoint/ggml.h"
#include "encdec/models/checkpoint/npz.h"
#include "encdec/models/checkpoint/openai.h"
#include "encdec/models/checkpoint/pytorch.h"
#include "encdec/models/checkpoint/yaml.h"

namespace encdec {
namespace {

[[noreturn]] void refuse_format(const std::filesystem::path& path) {
  refuse<UnsupportedModelError>(path.string(), "this build reads safetensors only (ENCDEC_FORMATS=OFF)");
}

}  // namespace

CTranslate2Model read_ctranslate2(const std::filesystem::path& file) {
  refuse_format(file);
}
std::optional<JsonObject> token_settings(const CTranslate2Model& /*model*/, std::optional<JsonObject> config) {
  return config;
}

bool is_ggml(const std::filesystem::path& /*file*/) {
  return false;
}
GgmlModel read_ggml(const std::filesystem::path& file) {
  refuse_format(file);
}
GgmlVocabulary read_ggml_vocabulary(const std::filesystem::path& file) {
  refuse_format(file);
}

std::shared_ptr<const WeightStore> read_npz(const std::filesystem::path& path) {
  refuse_format(path);
}

OpenAiModel read_openai(const std::filesystem::path& file, std::vector<std::string>* /*notes*/) {
  refuse_format(file);
}
std::optional<JsonObject> read_openai_sizes(const std::filesystem::path& /*file*/) {
  return std::nullopt;
}

std::shared_ptr<const WeightStore> read_pytorch(const std::filesystem::path& folder_or_file,
                                                std::vector<std::string>* /*notes*/) {
  refuse_format(folder_or_file);
}

nlohmann::json parse_yaml(std::string_view /*text*/, const std::string& file) {
  refuse_format(file);
}
JsonObject read_yaml_object(const std::filesystem::path& path, std::size_t /*max_bytes*/) {
  refuse_format(path);
}

}  // namespace encdec
