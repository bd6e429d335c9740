#pragma once

#include <nanobind/nanobind.h>

#include "encdec/models/model.h"

namespace encdec::python {

// Converts results to plain tuples, from which encdec/results.py builds objects.

// Returns ([hypothesis...], source_tokens, source_truncated). A hypothesis is (text, token_ids, score, finish_reason,
// token_scores, top_log_probs, attention). Returns None if there are no hypotheses, because the model does not accept
// the source.
nanobind::object to_python(const GenerateResult& result);

// Returns (source, decoder_input, target, {kind: array [layers, heads, queries, keys]}).
nanobind::object to_python(const AttentionMaps& maps);

}  // namespace encdec::python
