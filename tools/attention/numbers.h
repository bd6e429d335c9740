#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// For each query, the index of the key that has the largest weight.
using Alignment = std::vector<std::size_t>;

// Returns the alignment of the first `queries` rows, by the mean of the last layer's heads. Of keys with equal weights
// the first counts.
Alignment hard_alignment(const LabelledAttention& attention, std::size_t queries);
// Returns the alignment of a generated hypothesis, without its end token, which stands for no text.
Alignment hard_alignment(const Model& model, const LabelledAttention& attention, const Hypothesis& hypothesis);
// Returns the alignment in the format of Pharaoh, "0-0 2-1": pairs KEY-QUERY, numbered from 0.
std::string to_pharaoh(const Alignment& alignment);

// Returns members of a JSON object:
// "queries": [...], "keys": [...], "layers": [...], "heads": [...], "weights": [layers][heads][queries][keys].
// Numbers have the shortest digits that give the same float. Throws InputError if a weight is not from 0 to 1.
std::string json_members(const LabelledAttention& attention);

}  // namespace encdec::cli
