#include "golden_layer.h"

#include <filesystem>
#include <set>
#include <stdexcept>

#include "encdec/models/checkpoint/safetensors.h"

namespace encdec {
namespace {

const Tensor& found(const WeightStore& store, const std::string& name) {
  const Tensor* tensor = store.find(name);
  if (tensor == nullptr) throw std::out_of_range(store.origin() + ": no tensor " + name);
  return *tensor;
}

}  // namespace

GoldenLayer::GoldenLayer(std::string_view name)
    : store_(read_safetensors(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "layers" /
                              (std::string(name) + ".safetensors"))) {}

std::vector<std::string> GoldenLayer::cases() const {
  std::set<std::string> names;
  for (const auto& [name, tensor] : store_->tensors()) names.insert(name.substr(0, name.find('/')));
  if (names.empty()) throw std::out_of_range(store_->origin() + ": no cases");
  return {names.begin(), names.end()};
}

Tensor GoldenLayer::input(const std::string& case_name, const std::string& name) const {
  return found(*store_, case_name + "/input/" + name);
}

Tensor GoldenLayer::output(const std::string& case_name, const std::string& name) const {
  return found(*store_, case_name + "/output/" + name);
}

Tensor GoldenLayer::weight(const std::string& case_name, const std::string& name) const {
  return found(*store_, case_name + "/weight/" + name);
}

bool GoldenLayer::has_input(const std::string& case_name, const std::string& name) const {
  return store_->find(case_name + "/input/" + name) != nullptr;
}

WeightScope GoldenLayer::weights(const std::string& case_name) const {
  return {store_, [prefix = case_name + "/weight/"](const std::string& canonical) {
            return std::vector<StoredName>{prefix + canonical};
          }};
}

}  // namespace encdec
