#pragma once

#include <encdec/models/model.h>

#include <cstddef>
#include <string>
#include <vector>

#include "labelled_attention.h"

namespace encdec::cli {

// Maps with the names of their tokens: as the vocabulary spells them; ids where there is no tokenizer. A decoder's rows
// are named by the tokens that they led to, "?" where that is not known.
std::vector<LabelledAttention> label(const Model& model, const AttentionMaps& attention,
                                     const AttentionSelection& selection);

// Of what was generated: cross-attention, or, in a decoder-only model, self-attention. One row for each token of the
// hypothesis.
LabelledAttention label_generated(const Model& model, const Hypothesis& hypothesis,
                                  const AttentionSelection& selection);

// The kind of attention that tells most of what a model does: cross-attention where it has any.
AttentionKind main_kind(const TransformerConfig& config);

}  // namespace encdec::cli
