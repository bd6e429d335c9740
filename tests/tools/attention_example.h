#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/attention/labelled_attention.h"

namespace encdec::cli {

// Returns a cross-attention of a single layer and a single head.
LabelledAttention attention_of(std::vector<std::string> queries, std::vector<std::string> keys,
                               const std::vector<float>& weights);

// Returns attention of `layers` layers and `heads` heads, named "1", "2", ..., with weights that look random.
LabelledAttention random_attention(int layers, int heads, std::vector<std::string> queries,
                                   std::vector<std::string> keys);

// Returns tokens that try to break out of their place in a terminal or an image.
const std::vector<std::string>& hostile_tokens();

// Returns how often `part` occurs in the text.
std::size_t count(const std::string& text, std::string_view part);

}  // namespace encdec::cli
