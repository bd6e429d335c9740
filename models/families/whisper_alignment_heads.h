#pragma once

#include <utility>
#include <vector>

#include "encdec/models/network/config.h"

namespace encdec {

// Returns the heads of the decoder's cross-attention that follow the audio, as {layer, head}. A published model,
// recognised by its sizes, has the heads that openai/whisper found for it (whisper/__init__.py). large-v1 has the same
// sizes as large-v2 and is treated as such. With other sizes these are all heads in the second half of the layers. A
// checkpoint may override them.
std::vector<std::pair<int, int>> whisper_alignment_heads(const TransformerConfig& config);

}  // namespace encdec
