#pragma once

#include <encdec/models/session.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "labelled_attention.h"

namespace encdec::cli {

// The mean over all layers and heads of a map: [queries, keys].
Tensor mean_map(const AttentionMap& map);

// Hard alignment of the first `queries` rows in the format of Pharaoh, "0-0 2-1": key and query, numbered from 0, for
// each query the key that gets most of its attention in the mean of the map; of equal ones the first.
std::string hard_alignment(const AttentionMap& map, std::size_t queries);

// "encoder_self", "decoder_self" or "cross".
std::string_view json_name(AttentionKind kind);

// {"queries": [...], "keys": [...], "layers": [...], "heads": [...], "weights": [...]} without the braces. The weights
// are [layers][heads][queries][keys]; where the mean of the layers or one of them was asked for, their dimension is
// left out, and likewise that of the heads. Numbers have the shortest digits that stand for the same float.
std::string json_members(const LabelledAttention& attention, const AttentionSelection& selection);

}  // namespace encdec::cli
