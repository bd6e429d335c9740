#pragma once

#include <nanobind/nanobind.h>

#include "encdec/models/model.h"

namespace encdec::python {

// What the library gives, as plain tuples: encdec/results.py makes objects of them.

// ([hypothesis...], source_tokens, source_truncated); hypothesis: (text, token_ids, score, finish_reason, token_scores,
// top_log_probs, attention). None where there are no hypotheses: the source was one that the model cannot take.
nanobind::object to_python(const GenerateResult& result);

// (source, decoder_input, target, {kind: array [layers, heads, queries, keys]})
nanobind::object to_python(const AttentionMaps& maps);

}  // namespace encdec::python
