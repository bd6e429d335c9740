#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/matmul.h"
#include "encdec/layers/linear.h"
#include "encdec/layers/positional_encoding.h"

namespace encdec {

// Where a sub-layer's normalisation stands: after the addition (Vaswani et al. 2017) or before the sub-layer
// (Xiong et al. 2020).
enum class NormOrder : std::uint8_t { last, first };

// Encoder or decoder.
struct StackConfig {
  Dim vocabulary = 0;  // V
  int layers = 0;
  int heads = 1;       // H
  Dim hidden_dim = 0;  // F
};

// Sizes of a Transformer and the choices in which families of checkpoints differ. Data: what the graphs are built from.
struct TransformerConfig {
  std::string model_type;  // as config.json calls the family: "marian"
  Dim model_dim = 0;       // D
  StackConfig encoder;
  StackConfig decoder;
  Activation activation = Activation::relu;
  NormOrder norm_order = NormOrder::last;
  float norm_epsilon = 1e-5f;
  SinusoidLayout positions = SinusoidLayout::halves;
  Dim max_positions = 0;  // that the model was trained for; sinusoids go on beyond
  float embedding_scale = 1.0f;
  Bias output_bias = Bias::optional;

  std::optional<std::int32_t> pad_token;
  std::optional<std::int32_t> decoder_start_token;
};

// An activation by the name that transformers gives it ("gelu_new", "swish", ...); nullopt if it is not supported.
std::optional<Activation> activation_named(std::string_view name);

// All names that activation_named knows, for messages.
std::string activation_names();

}  // namespace encdec
