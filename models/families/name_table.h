#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"

namespace encdec {

// One row of a naming table. In both patterns, "*" stands for the same layer number; where layers are counted from 1,
// the stored pattern has "*+1". A canonical pattern that begins with "%" is that of both sides, and "%" stands for
// "encoder" or "decoder" in both patterns.
struct NamePattern {
  std::string canonical;
  std::vector<StoredName> stored;  // candidates, best first
};

// What is stored for y = x W.
StoredName transposed(StoredName name);

// A part of a merged projection, from 0.
StoredName part_of(StoredName name, int part, int parts);

// Names by table: the first row whose canonical pattern is the name or a prefix of it up to a dot. What follows the
// prefix is appended to each candidate.
WeightNames names_by_table(std::vector<NamePattern> table);

// A table with rows for positions, layers and last norms of both sides, as they are called in transformers' BART and
// those that were written after it.
std::vector<NamePattern> with_bart_layers(std::vector<NamePattern> table);

// The same names without a prefix ("model."), if no tensor of the checkpoint has it: that of a model without a head.
WeightNames without_missing_prefix(std::string_view prefix, const WeightStore& weights, WeightNames names);

// The same names where ".weight" and ".bias" of a norm may also be called ".gamma" and ".beta": old BERT checkpoints.
WeightNames with_gamma_and_beta(WeightNames names);

}  // namespace encdec
