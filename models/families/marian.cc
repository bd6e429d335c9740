// Marian (Junczys-Dowmunt et al. 2018) as transformers stores it: OPUS-MT's models.
#include "encdec/models/families/bart_lineage.h"

namespace encdec {
namespace {

constexpr BartLineage kMarianLineage{
    .model_type = "marian",
    .separate_vocabularies = true,
    .vocabulary = 58101,
    .pad_token = 58100,
};

}  // namespace

const Family kMarian = bart_family<kMarianLineage>();

}  // namespace encdec
