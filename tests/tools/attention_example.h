#pragma once

#include <string>
#include <vector>

#include "tools/attention/labelled_attention.h"

namespace encdec::cli {

// A cross-attention of one layer's one head.
LabelledAttention attention_of(std::vector<std::string> queries, std::vector<std::string> keys,
                               const std::vector<float>& weights);

// One of so many layers and heads, "1", "2", ..., with weights that look random.
LabelledAttention random_attention(int layers, int heads, std::vector<std::string> queries,
                                   std::vector<std::string> keys);

// Tokens that try to leave their place in a terminal, an image or a page.
const std::vector<std::string>& hostile_tokens();

}  // namespace encdec::cli
