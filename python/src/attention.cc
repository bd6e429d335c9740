#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "bindings.h"
#include "encdec/engine/base/error.h"
#include "inputs.h"
#include "options.h"
#include "tools/attention/svg.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Returns a picture of weights [queries, keys], as SVG.
std::string draw_attention(const std::string& kind, nb::list queries, nb::list keys, const Matrix& weights) {
  cli::LabelledAttention attention;
  attention.queries = texts_from(queries);
  attention.keys = texts_from(keys);
  if (weights.size() == 0 || weights.shape(0) != queries.size() || weights.shape(1) != keys.size()) {
    throw ShapeError("weights have another shape than the tokens, expected [rows, columns] with one token at least");
  }
  attention.layers = attention.heads = {""};
  attention.map.kind = attention_kind(kind);
  attention.map.weights = Tensor::allocate({1, 1, static_cast<Dim>(queries.size()), static_cast<Dim>(keys.size())});
  std::copy_n(weights.data(), weights.size(), attention.map.weights.data<float>());
  return cli::draw_svg("", {&attention, 1});
}

}  // namespace

void bind_attention(nb::module_& module) {
  module.def("draw_attention", &draw_attention, nb::arg("kind"), nb::arg("queries"), nb::arg("keys"),
             nb::arg("weights"));
}

}  // namespace encdec::python
