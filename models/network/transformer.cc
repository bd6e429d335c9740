#include "encdec/models/network/transformer.h"

#include "encdec/models/network/decoder.h"
#include "encdec/models/network/encoder.h"

namespace encdec {

Transformer::Transformer(const TransformerConfig& config_, const WeightScope& weights_)
    : config(config_), weights(weights_) {
  const OutputProjection projection = config.has_decoder() ? OutputProjection(config, weights) : OutputProjection();
  if (config.has_encoder()) encoder.emplace(build_encoder(config, weights, projection));
  if (config.has_decoder()) {
    decoder.emplace(build_decoder(config, weights, projection));
    output.emplace(projection.graph(config));
  }
}

std::vector<const Executor*> Transformer::graphs() const {
  std::vector<const Executor*> graphs;
  for (const auto* executor : {&encoder, &decoder, &output}) {
    if (*executor) graphs.push_back(&**executor);
  }
  return graphs;
}

}  // namespace encdec
