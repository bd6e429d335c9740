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
  WeightNames (*weight_names)(const JsonObject& config, const WeightStore& weights);
};

// The family that config.json's model_type names. Throws UnsupportedModelError, listing what is supported, for any
// other.
const Family& find_family(const JsonObject& config);

// "'bart', 'bert', ...": all of them, for messages.
std::string supported_families();

extern const Family kBart;
extern const Family kBert;
extern const Family kBlenderbot;
extern const Family kBlenderbotSmall;
extern const Family kDistilBert;
extern const Family kGpt2;
extern const Family kM2M100;
extern const Family kMarian;
extern const Family kMBart;
extern const Family kMT5;
extern const Family kPegasus;
extern const Family kPLBart;
extern const Family kRoberta;
extern const Family kT5;
extern const Family kUMT5;
extern const Family kXlmRoberta;

}  // namespace encdec
