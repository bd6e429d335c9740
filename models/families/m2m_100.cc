// M2M100 (Fan et al. 2021) and NLLB-200 (NLLB Team 2022), without experts.
#include "encdec/models/families/bart_lineage.h"

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

}  // namespace

const Family kM2M100 = bart_family<kM2M100Lineage>();

}  // namespace encdec
