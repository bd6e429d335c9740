#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"

namespace encdec {

// A row of a table that maps canonical names to stored names. In both patterns "*" stands for the layer number. If the
// checkpoint counts layers from 1, the stored pattern has "*+1". If the canonical pattern begins with "%", then "%"
// stands for "encoder" or "decoder" in both patterns.
struct NamePattern {
  std::string canonical;
  std::vector<StoredName> stored;  // candidates, best first
};

// Returns `name`, marked as the name of a matrix that is stored for y = x W.
StoredName transposed(StoredName name);

// Returns `name`, marked as part number `part` of `parts` equal parts of a merged projection. Parts count from 0.
StoredName part_of(StoredName name, int part, int parts);

// Returns names by a table, which the rows of `more` follow. The row that applies is the first whose canonical pattern
// matches the name, or a prefix of the name that ends before a dot. The rest of the name is appended to each candidate.
WeightNames names_by_table(std::vector<NamePattern> table, const std::vector<NamePattern>& more = {});

// Returns `table` with added rows for the positions, layers and final norms of both sides. The rows have the names that
// BART and later models have in transformers.
std::vector<NamePattern> with_bart_layers(std::vector<NamePattern> table);

// Returns whether the name of a tensor of the checkpoint begins with `prefix`.
bool has_prefix(const WeightStore& weights, std::string_view prefix);

// Returns `names` without the prefix ("model."), if no tensor of the checkpoint has that prefix. This is the case for a
// model that was saved without its head.
WeightNames without_missing_prefix(std::string_view prefix, const WeightStore& weights, WeightNames names);

// Returns `names`, where ".weight" and ".bias" of a norm may also be called ".gamma" and ".beta", as in old BERT
// checkpoints.
WeightNames with_gamma_and_beta(WeightNames names);

}  // namespace encdec
