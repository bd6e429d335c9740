#pragma once

#include <utility>
#include <vector>

#include "encdec/models/network/config.h"

namespace encdec {

// The heads of the decoder's cross-attention that follow the sound, as {layer, head}: those that openai/whisper found
// for its models (whisper/__init__.py), which are told apart by their sizes. large-v1 is taken for large-v2, as large
// as it is. For other sizes all heads of the last half of the layers. Checkpoints may say otherwise.
std::vector<std::pair<int, int>> whisper_alignment_heads(const TransformerConfig& config);

}  // namespace encdec
