#pragma once

#include <encdec/models/attention_map.h>

#include <span>
#include <string>
#include <vector>

namespace encdec::cli {

// An attention map as pictures show it: with the tokens that its queries and keys stand for.
struct LabelledAttention {
  AttentionMap map;
  std::vector<std::string> queries;  // rows: tokens as the vocabulary spells them
  std::vector<std::string> keys;     // columns
  std::vector<std::string> layers;   // "0", "1", ... or "mean"
  std::vector<std::string> heads;
};

// Throws InputError, naming what does not fit, unless there is a label for each layer, head, query and key, at least
// one of each, and every weight is from 0 to 1.
void check(const LabelledAttention& attention);

// The weights [queries, keys] of one head.
std::span<const float> weights_of(const LabelledAttention& attention, std::size_t layer, std::size_t head);
float largest_weight(const LabelledAttention& attention);

// "layer 3, head 5", "mean of layers and heads"
std::string map_name(const LabelledAttention& attention, std::size_t layer, std::size_t head);

}  // namespace encdec::cli
