// M2M100 (Fan et al. 2021) and NLLB-200 (NLLB Team 2022), without experts.
#include "encdec/models/families/bart_lineage.h"
#include "encdec/models/families/families.h"

namespace encdec {
namespace {

constexpr BartLineage kM2M100Lineage{
    .model_type = "m2m_100",
    .norm_order = NormOrder::first,
    .positions = {.layout = SinusoidLayout::timing_signal},
    .positions_skip_pads = true,
    .activation = "relu",
    .scale_embedding = true,
    .target_language = TargetLanguage::first_token,
    .vocabulary = 128112,
};

TransformerConfig read_m2m_100_config(const JsonObject& config) {
  return read_bart_config(config, kM2M100Lineage);
}

WeightNames weight_names(const JsonObject& config, const WeightStore& weights) {
  return bart_weight_names(config, weights);
}

}  // namespace

const Family kM2M100{kM2M100Lineage.model_type, read_m2m_100_config, weight_names};

}  // namespace encdec
