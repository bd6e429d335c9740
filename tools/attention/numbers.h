#pragma once

#include <string>

#include "attention/labelled_attention.h"

namespace encdec::cli {

// Returns the hard alignment of a generated hypothesis in the format of Pharaoh, "0-0 2-1": pairs KEY-QUERY, numbered
// from 0. The key is that of the largest weight in the mean of the last layer's heads; of keys with equal weights, the
// first. The end token, which stands for no text, has no pair.
std::string hard_alignment(const Model& model, const LabelledAttention& attention, const Hypothesis& hypothesis);

// Returns members of a JSON object:
// "queries": [...], "keys": [...], "layers": [...], "heads": [...], "weights": [layers][heads][queries][keys].
// Numbers have the shortest digits that give the same float. Throws InputError if a weight is not from 0 to 1.
std::string json_members(const LabelledAttention& attention);

}  // namespace encdec::cli
