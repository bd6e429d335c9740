#include "results.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "inputs.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

nb::object to_python(const std::vector<std::vector<TokenScore>>& places) {
  nb::list lists;
  for (const std::vector<TokenScore>& place : places) {
    nb::list list;
    for (const TokenScore& score : place) list.append(nb::make_tuple(score.token, score.log_probability));
    lists.append(list);
  }
  return lists;
}

// Returns the name of a kind in the argument `kinds` of attention().
const char* key_of(AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? "encoder" : kind == AttentionKind::decoder_self ? "decoder" : "cross";
}

nb::object to_python(const Hypothesis& hypothesis) {
  const bool has_attention = !hypothesis.attention.maps.empty();
  return nb::make_tuple(text_of(hypothesis.text), hypothesis.token_ids, hypothesis.score,
                        to_string(hypothesis.finish_reason), hypothesis.token_scores,
                        to_python(hypothesis.top_log_probs),
                        has_attention ? encdec::python::to_python(hypothesis.attention) : nb::none());
}

}  // namespace

nb::object to_python(const GenerateResult& result) {
  if (result.hypotheses.empty()) return nb::none();
  nb::list hypotheses;
  for (const Hypothesis& hypothesis : result.hypotheses) hypotheses.append(to_python(hypothesis));
  return nb::make_tuple(hypotheses, result.source_tokens, result.source_truncated);
}

nb::object to_python(const AttentionMaps& maps) {
  nb::dict arrays;
  for (const AttentionMap& map : maps.maps) arrays[key_of(map.kind)] = to_array(map.weights);
  return nb::make_tuple(maps.source, maps.decoder_input, maps.target, arrays);
}

}  // namespace encdec::python
