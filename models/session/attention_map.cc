#include "encdec/models/session/attention_map.h"

namespace encdec {

std::string_view to_string(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self: return "encoder self-attention";
    case AttentionKind::decoder_self: return "decoder self-attention";
    case AttentionKind::cross: return "cross-attention";
  }
  return "?";
}

}  // namespace encdec
