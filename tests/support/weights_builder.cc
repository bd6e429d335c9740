#include "tests/support/weights_builder.h"

#include <memory>
#include <vector>

namespace encdec {

WeightScope make_scope(const std::map<std::string, Tensor>& tensors, const PackOptions& pack) {
  auto store = std::make_shared<WeightStore>("test");
  for (const auto& [name, tensor] : tensors) store->add(name, tensor);
  return {std::move(store), [](const std::string& canonical) { return std::vector<StoredName>{canonical}; }, pack};
}

}  // namespace encdec
