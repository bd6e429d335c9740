#pragma once

#include <string_view>

#include "encdec/engine/weights.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/config.h"

namespace encdec {

// A family of checkpoints: how its config.json reads, and what it calls the tensors. Data; a new family is a new file
// that fills one of these, and a line in families.cc.
struct Family {
  std::string_view model_type;
  // Throws ConfigError, naming the file and the key.
  TransformerConfig (*read_config)(const JsonObject& config);
  // Stored names for the canonical names that encoder.h and decoder.h ask for.
  WeightNames (*weight_names)(const JsonObject& config);
};

// The family that config.json's model_type names. Throws ConfigError, listing what is supported, for any other.
const Family& find_family(const JsonObject& config);

// One row of a naming table: in both patterns, "*" stands for the same layer number. Where layers are counted from 1,
// the stored pattern has "*+1".
struct NamePattern {
  std::string_view canonical;
  std::vector<StoredName> stored;  // candidates, best first
};

// Names by table: the first row whose canonical pattern is the name or a prefix of it up to a dot. What follows the
// prefix is appended to each candidate.
WeightNames names_by_table(std::vector<NamePattern> table);

extern const Family kMarian;

}  // namespace encdec
