#pragma once

#include <vector>

#include "encdec/engine/graph.h"
#include "encdec/layers/add_norm.h"
#include "encdec/models/config.h"

namespace encdec {

// A sub-layer with its residual connection and normalisation. `add_sublayer(inputs)` adds the sub-layer's node:
//   norm last:  x -> norm(x + f(x));  inputs are {x}
//   norm first: x -> x + f(norm(x));  inputs are {norm(x), x}, the second being f's residual
template <class AddSublayer>
Edge add_residual_block(Graph& graph, const TransformerConfig& config, const WeightScope& norm, Edge x,
                        const AddSublayer& add_sublayer) {
  const NormOptions options{.width = config.model_dim, .epsilon = config.norm_epsilon};
  if (config.norm_order == NormOrder::last) {
    const Edge transformed = add_sublayer(std::vector{x});
    return graph.add<AddNorm>(norm, {x, transformed}, options);
  }
  const Edge normalized = graph.add<AddNorm>(norm, {x}, options);
  return add_sublayer(std::vector{normalized, x});
}

// Whether the sub-layers of such blocks take the residual.
inline Residual sublayer_residual(const TransformerConfig& config) {
  return config.norm_order == NormOrder::first ? Residual::add : Residual::none;
}

}  // namespace encdec
