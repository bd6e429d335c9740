// Pegasus (Zhang et al. 2020).
#include "encdec/models/families/bart_lineage.h"
#include "encdec/models/families/families.h"

namespace encdec {
namespace {

constexpr BartLineage kPegasusLineage{
    .model_type = "pegasus",
    .norm_order = NormOrder::first,
    .pad_token = 0,
};

TransformerConfig read_pegasus_config(const JsonObject& config) {
  return read_bart_config(config, kPegasusLineage);
}

WeightNames weight_names(const JsonObject& config, const WeightStore& weights) {
  return bart_weight_names(config, weights);
}

}  // namespace

const Family kPegasus{kPegasusLineage.model_type, read_pegasus_config, weight_names};

}  // namespace encdec
