#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/families/name_table.h"
#include "encdec/models/network/config.h"

namespace encdec {

// Defaults for a stack with rotary positions and gated feed-forward networks (Touvron et al. 2023), equal to the
// defaults of the model's class in transformers.
struct RotaryStackDefaults {
  Dim vocabulary = 32'000;
  Dim model_dim = 4096;
  Dim hidden_dim = 11'008;
  int layers = 32;
  Dim heads = 32;
  Dim key_value_heads = 0;  // 0 means `heads`
  Dim head_dim = 0;         // 0 means model_dim / heads
  std::string_view activation_key = "hidden_act";
  std::string_view activation = "silu";
  // The layers that have a window: none, all, all but each n-th, or all from layer max_window_layers on.
  enum class Windows { none, all, but_each_nth, last } windows = Windows::none;
  int every = 1;            // n of but_each_nth
  double local_base = 0.0;  // base of the rotation in layers with a window; 0 means the common base
  double base = 10'000.0;
  bool has_head_norm = false;
  // As in Gemma: embeddings are multiplied by sqrt(D); norms multiply by 1 + weight, and precede
  // and follow each sub-layer; scores are divided by sqrt(query_pre_attn_scalar) and may be capped.
  bool is_gemma = false;
  double score_cap = 0.0;
};

// Defaults of Gemma 2, and of T5Gemma.
inline constexpr RotaryStackDefaults kGemma2Stack{.vocabulary = 256'000,
                                                  .model_dim = 2304,
                                                  .hidden_dim = 9216,
                                                  .layers = 26,
                                                  .heads = 8,
                                                  .key_value_heads = 4,
                                                  .head_dim = 256,
                                                  .activation_key = "hidden_activation",
                                                  .activation = "gelu_pytorch_tanh",
                                                  .windows = RotaryStackDefaults::Windows::but_each_nth,
                                                  .every = 2,
                                                  .is_gemma = true,
                                                  .score_cap = 50.0};
inline constexpr double kGemma2LogitsCap = 30.0;

// Defaults of Gemma 3, and of T5Gemma 2.
inline constexpr RotaryStackDefaults kGemma3Stack = [] {
  RotaryStackDefaults gemma = kGemma2Stack;
  gemma.vocabulary = 262'208;
  gemma.every = 6;
  gemma.local_base = 10'000;
  gemma.base = 1'000'000;
  gemma.has_head_norm = true;
  gemma.score_cap = 0.0;
  return gemma;
}();

// Reads the settings of a stack, as transformers 4 or 5 writes them. Windows contain only earlier tokens, as in a
// decoder. Throws ConfigError, naming the file and the key.
StackConfig read_rotary_stack(const JsonObject& json, const RotaryStackDefaults& missing);

// Returns a stack's tensor names. Canonical names begin with `stack` ("decoder"), stored names with `prefix`.
std::vector<NamePattern> rotary_stack_names(const std::string& stack, const std::string& prefix);

// Returns final_logit_softcapping; 0 if there is no cap.
float logits_cap_of(const JsonObject& json, double missing);

}  // namespace encdec
