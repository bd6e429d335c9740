#include "encdec/layers/attention_heads.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"

namespace encdec {

Dim AttentionOptions::inner_dim() const {
  if (heads < 1 || (head_dim == 0 && model_dim % heads != 0)) {
    throw ShapeError(fmt::format("{} attention heads do not divide the model dimension {}", heads, model_dim));
  }
  return head_dim == 0 ? model_dim : heads * head_dim;
}

}  // namespace encdec
