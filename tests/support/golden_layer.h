#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"

namespace encdec {

// What PyTorch computes for a layer: tests/golden/layers/NAME.safetensors, made by make_layers.py.
class GoldenLayer {
 public:
  explicit GoldenLayer(std::string_view name);

  // In alphabetical order; never none.
  std::vector<std::string> cases() const;
  // float32, or int32 where they are lengths or ids. Throw std::out_of_range if they are not there.
  Tensor input(const std::string& case_name, const std::string& name) const;
  Tensor output(const std::string& case_name, const std::string& name) const;
  Tensor weight(const std::string& case_name, const std::string& name) const;
  bool has_input(const std::string& case_name, const std::string& name) const;
  // Named as the layer asks for them.
  WeightScope weights(const std::string& case_name) const;

 private:
  std::shared_ptr<const WeightStore> store_;
};

}  // namespace encdec
