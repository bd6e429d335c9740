#pragma once

#include <utility>
#include <vector>

#include "encdec/models/network/config.h"

namespace encdec {

// Number of 10 ms log-mel frames per row of the encoder.
inline constexpr Dim kWhisperFramesPerRow = 2;

// Returns the configuration that all Whisper models (Radford et al. 2023) share, without sizes.
TransformerConfig whisper_config();

// Returns the heads of the decoder's cross-attention that follow the audio, as {layer, head}. For a published model,
// recognised by its sizes, these are the heads in openai/whisper (whisper/__init__.py), with large-v2's heads for
// large-v1. For other models, these are all heads in the second half of the layers. A checkpoint may list other heads.
std::vector<std::pair<int, int>> whisper_alignment_heads(const TransformerConfig& config);

}  // namespace encdec
