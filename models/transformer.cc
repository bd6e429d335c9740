#include "encdec/models/transformer.h"

#include "encdec/models/decoder.h"
#include "encdec/models/encoder.h"

namespace encdec {

Transformer::Transformer(const TransformerConfig& config_, const WeightScope& weights_)
    : config(config_), weights(weights_) {
  if (config.has_encoder()) encoder.emplace(build_encoder(config, weights));
  if (config.has_decoder()) {
    decoder.emplace(build_decoder(config, weights));
    output.emplace(build_output(config, weights));
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
