#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// For each of the first queries the key that gets most of its attention.
using Alignment = std::vector<std::size_t>;

// Of the first `queries` rows, in the mean of the heads of the map's last layer; of equal keys the first.
Alignment hard_alignment(const LabelledAttention& attention, std::size_t queries);
// The same for what was generated, without its end token, which stands for nothing in the text.
Alignment hard_alignment(const Model& model, const LabelledAttention& attention, const Hypothesis& hypothesis);
// The mean of the heads of the last layer of a map, under the names "LAYER" and "mean".
LabelledAttention last_layer_mean(const LabelledAttention& attention);
// In the format of Pharaoh: "0-0 2-1", key and query, numbered from 0.
std::string to_pharaoh(const Alignment& alignment);

// "queries": [...], "keys": [...], "layers": [...], "heads": [...], "weights": [layers][heads][queries][keys]: members
// of an object. Numbers have the shortest digits that stand for the same float. Throws InputError where weights are not
// from 0 to 1.
std::string json_members(const LabelledAttention& attention);

}  // namespace encdec::cli
