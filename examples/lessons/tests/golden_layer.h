#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"

namespace encdec {

// The results of PyTorch for a layer: golden/layers/NAME.safetensors, made by make_lessons.py.
class GoldenLayer {
 public:
  explicit GoldenLayer(std::string_view name);

  // Returns the names of the cases, in alphabetical order. Throws std::out_of_range if there are none.
  std::vector<std::string> cases() const;
  // Return a tensor of float32, or of int32 for lengths and ids. Throw std::out_of_range if it does not exist.
  Tensor input(const std::string& case_name, const std::string& name) const;
  Tensor output(const std::string& case_name, const std::string& name) const;
  Tensor weight(const std::string& case_name, const std::string& name) const;
  bool has_input(const std::string& case_name, const std::string& name) const;
  // Returns the weights under the names that the layer asks for.
  WeightScope weights(const std::string& case_name) const;

 private:
  std::shared_ptr<const WeightStore> store_;
};

}  // namespace encdec
