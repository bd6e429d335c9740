#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"

namespace encdec {

// A row of a table that maps canonical names to stored names. In both patterns "*" is the layer number; a stored
// pattern has "*+1" if the checkpoint counts layers from 1. If the canonical pattern begins with "%", then "%" is
// "encoder" or "decoder" in both patterns.
struct NamePattern {
  std::string canonical;
  std::vector<StoredName> stored;  // candidates, best first
};

// Returns `name`, marked as a matrix that is stored transposed, for y = x W.
StoredName transposed(StoredName name);

// Returns `name`, marked as part `part` (from 0) of `parts` equal parts of a merged projection.
StoredName part_of(StoredName name, int part, int parts);

// Returns a function that looks names up in `table` and then in `more`. The function uses the first row whose canonical
// pattern matches the name or a prefix that ends before a dot, and appends the rest of the name.
WeightNames names_by_table(std::vector<NamePattern> table, const std::vector<NamePattern>& more = {});

// Returns `table` with rows for positions, layers and final norms as in transformers' BART.
std::vector<NamePattern> with_bart_layers(std::vector<NamePattern> table);

// Returns true if the name of any tensor begins with `prefix`.
bool has_prefix(const WeightStore& weights, std::string_view prefix);

// Returns `names`, but without `prefix` if no tensor has the prefix: the model was saved without its head.
WeightNames without_missing_prefix(std::string_view prefix, const WeightStore& weights, WeightNames names);

// Returns `names` plus the older names of norms, which end in ".gamma" and ".beta" (old BERT checkpoints).
WeightNames with_gamma_and_beta(WeightNames names);

}  // namespace encdec
