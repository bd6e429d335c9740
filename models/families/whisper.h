#pragma once

#include <utility>
#include <vector>

#include "encdec/models/network/config.h"

namespace encdec {

// Log-mel frames of 10 ms in one row of the encoder.
inline constexpr Dim kWhisperFramesPerRow = 2;

// Returns what all Whisper models (Radford et al. 2023) have in common; but not their sizes. transformer.h lists
// the names of their weights.
TransformerConfig whisper_config();

// Returns the heads of the decoder's cross-attention that follow the audio, as {layer, head}. A published model,
// recognised by its sizes, has the heads that openai/whisper found for it (whisper/__init__.py). large-v1 has the same
// sizes as large-v2 and is treated as such. With other sizes these are all heads in the second half of the layers. A
// checkpoint may override them.
std::vector<std::pair<int, int>> whisper_alignment_heads(const TransformerConfig& config);

}  // namespace encdec
