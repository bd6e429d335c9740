#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "encdec/engine/base/tensor.h"

namespace encdec::python {

// Returns a float32 numpy array that shares the tensor's memory and keeps it alive.
inline nanobind::object to_array(const Tensor& tensor) {
  namespace nb = nanobind;
  nb::module_::import_("numpy");  // if nanobind imported numpy, a KeyboardInterrupt would become a TypeError
  std::vector<std::size_t> sizes;
  for (const Dim dim : tensor.shape().dims()) sizes.push_back(static_cast<std::size_t>(dim));
  auto kept = std::make_unique<Tensor>(tensor);
  float* data = kept->elements() == 0 ? nullptr : kept->data<float>();
  const nb::capsule owner(kept.get(), [](void* pointer) noexcept { delete static_cast<Tensor*>(pointer); });
  kept.release();
  return nb::cast(nb::ndarray<nb::numpy, float>(data, sizes.size(), sizes.data(), owner));
}

// Returns an array of `values`, a vector or a matrix.
inline nanobind::object to_array(std::vector<float> values, const Shape& shape) {
  const auto kept = std::make_shared<std::vector<float>>(std::move(values));
  return to_array(Tensor(kept->data(), DataType::float32, shape, kept));
}

}  // namespace encdec::python
