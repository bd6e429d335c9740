#pragma once

#include <cstdint>
#include <optional>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/shape.h"

namespace encdec {

// A head's results, computed from the last hidden states.
enum class HeadKind : std::uint8_t {
  none,
  sequences,   // a classifier's logits for each text
  tokens,      // a classifier's logits for each token
  vocabulary,  // a masked language model's logits over the vocabulary, for each token
  modules,     // like `sequences`, computed by sentence-transformers modules (SentenceEmbedder)
};

// The rows that a head for texts reads.
enum class HeadPooling : std::uint8_t {
  first,
  mean,         // mean of all rows
  mean_logits,  // all rows, whose logits are averaged
  last_end,     // row of the last end token
};

// Converts the logits of a text's tokens to the weights of a sparse vector (Formal et al. 2021):
//   the maximum or the sum, over all tokens, of log(1 + max(logit, 0))
struct SparsePooling {
  bool is_sum = false;
  int log1p_count = 1;  // how often log(1 + x) is applied
};

// A head: y = output(norm(activation(dense(h)))). Some heads have no norm, or no dense layer.
struct HeadConfig {
  HeadKind kind = HeadKind::none;
  Dim labels = 0;                             // number of logits
  std::optional<Activation> activation = {};  // activation of `dense`, D -> D; unset: no `dense`
  bool has_norm = false;
  HeadPooling pooling = HeadPooling::first;
  std::int32_t end_token = 0;                    // for HeadPooling::last_end
  std::optional<std::int32_t> start_token = {};  // decoder's first input; unset: the text's last token
  SparsePooling sparse = {};                     // for HeadKind::vocabulary

  bool is_graph() const { return kind != HeadKind::none && kind != HeadKind::modules; }
  bool classifies_texts() const { return kind == HeadKind::sequences || kind == HeadKind::modules; }
  bool classifies() const { return classifies_texts() || kind == HeadKind::tokens; }
};

}  // namespace encdec
