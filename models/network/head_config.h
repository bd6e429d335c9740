#pragma once

#include <cstdint>
#include <optional>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/shape.h"

namespace encdec {

// Results of a head, computed from the last hidden states.
enum class HeadKind : std::uint8_t {
  none,
  sequences,   // a classifier's logits of a text
  tokens,      // a classifier's logits of each token
  vocabulary,  // a masked language model's logits of each token, one for each token of the vocabulary
  modules,     // a classifier's logits of a text, by the modules of a sentence-transformers folder (SentenceEmbedder)
};

// Rows that a head for texts reads.
enum class HeadPooling : std::uint8_t {
  first,
  mean,         // the mean of all rows
  mean_logits,  // all rows; their logits are averaged
  last_end,     // the row of the last end token
};

// How the logits of a text's tokens become the weights of a sparse vector (Formal et al. 2021):
//   the maximum or the sum, over all tokens, of log(1 + max(logit, 0))
struct SparsePooling {
  bool is_sum = false;
  int logarithms = 1;  // number of times that log(1 + x) is applied
};

// A head: y = output(norm(activation(dense(h)))), where only some have a norm or the first linear map.
struct HeadConfig {
  HeadKind kind = HeadKind::none;
  Dim labels = 0;                             // number of logits
  std::optional<Activation> activation = {};  // activation of `dense`, D -> D; unset: there is no such map
  bool has_norm = false;
  HeadPooling pooling = HeadPooling::first;
  std::int32_t end_token = 0;                    // for HeadPooling::last_end
  std::optional<std::int32_t> start_token = {};  // before the text in the decoder; unset: the text's last token
  SparsePooling sparse = {};                     // for HeadKind::vocabulary

  bool is_graph() const { return kind != HeadKind::none && kind != HeadKind::modules; }
  bool classifies_texts() const { return kind == HeadKind::sequences || kind == HeadKind::modules; }
  bool classifies() const { return classifies_texts() || kind == HeadKind::tokens; }
};

}  // namespace encdec
