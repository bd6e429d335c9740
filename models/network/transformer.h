#pragma once

#include <optional>
#include <vector>

#include "encdec/engine/executor.h"
#include "encdec/models/network/config.h"

namespace encdec {

// A Transformer ready to run: the graphs of figure 1 (Vaswani et al. 2017) with their weights. Read-only, shared by all
// sessions.
struct Transformer {
  // Throws WeightError or ShapeError if the weights do not fit the configuration.
  Transformer(const TransformerConfig& config_, const WeightScope& weights);

  // Those that there are, in the order in which they run.
  std::vector<const Executor*> graphs() const;

  TransformerConfig config;
  WeightScope weights;              // that it was built from
  std::optional<Executor> encoder;  // none in a decoder-only model
  std::optional<Executor> decoder;  // none in an encoder-only model, as is the output
  std::optional<Executor> output;   // hidden states of the decoder -> logits
};

}  // namespace encdec
