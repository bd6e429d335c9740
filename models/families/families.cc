#include "encdec/models/families/families.h"

#include <fmt/format.h>

#include <array>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

constexpr std::array kFamilies = {
    &kBart,  &kBert, &kBlenderbot, &kBlenderbotSmall, &kDistilBert, &kGpt2, &kM2M100, &kMarian,
    &kMBart, &kMT5,  &kPegasus,    &kPLBart,          &kRoberta,    &kT5,   &kUMT5,   &kXlmRoberta};

}  // namespace

std::string supported_families() {
  std::string names;
  for (const Family* family : kFamilies) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", family->model_type);
  return names;
}

const Family& find_family(const JsonObject& config) {
  const std::string model_type = config.required_string("model_type");
  for (const Family* family : kFamilies) {
    if (family->model_type == model_type) return *family;
  }
  throw UnsupportedModelError(fmt::format("{}: model_type '{}' is not supported, expected one of {}", config.file(),
                                          printable(model_type), supported_families()));
}

}  // namespace encdec
