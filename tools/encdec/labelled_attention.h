#pragma once

#include <encdec/models/attention_map.h>

#include <string>
#include <vector>

namespace encdec::cli {

// An attention map as pictures show it: with the tokens that its queries and keys stand for.
struct LabelledAttention {
  AttentionMap map;
  std::vector<std::string> queries;  // rows: tokens as the vocabulary spells them
  std::vector<std::string> keys;     // columns
  std::vector<std::string> layers;   // "1", "2", ... or "mean"
  std::vector<std::string> heads;
};

}  // namespace encdec::cli
