#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "labelled_attention.h"

namespace encdec::cli {

// A token of a target and what it looked at most.
struct AlignmentLink {
  std::size_t query, key;
};
using Alignment = std::vector<AlignmentLink>;

// Hard alignment of the first `queries` rows: for each the key that gets most of its attention, in the mean of the
// heads of the map's last layer; of equal ones the first.
Alignment hard_alignment(const LabelledAttention& attention, std::size_t queries);
// The mean of the heads of the last layer of a map, under the names "LAYER" and "mean".
LabelledAttention last_layer_mean(const LabelledAttention& attention);
// In the format of Pharaoh: "0-0 2-1", key and query, numbered from 0.
std::string to_pharaoh(const Alignment& alignment);

// "encoder_self", "decoder_self" or "cross".
std::string_view json_name(AttentionKind kind);

// "queries": [...], "keys": [...], "layers": [...], "heads": [...], "weights": [layers][heads][queries][keys]: members
// of an object. Numbers have the shortest digits that stand for the same float. Throws InputError where weights are not
// from 0 to 1.
std::string json_members(const LabelledAttention& attention);

}  // namespace encdec::cli
