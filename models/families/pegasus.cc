// Pegasus (Zhang et al. 2020).
#include "encdec/models/families/bart_lineage.h"

namespace encdec {
namespace {

constexpr BartLineage kPegasusLineage{
    .model_type = "pegasus",
    .norm_order = NormOrder::first,
    .pad_token = 0,
};

}  // namespace

const Family kPegasus = bart_family<kPegasusLineage>();

}  // namespace encdec
