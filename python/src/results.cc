#include "results.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "inputs.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

nb::object to_python(const std::vector<std::vector<TokenScore>>& tokens) {
  nb::list lists;
  for (const std::vector<TokenScore>& token : tokens) {
    nb::list list;
    for (const TokenScore& score : token) list.append(nb::make_tuple(score.token, score.log_probability));
    lists.append(list);
  }
  return lists;
}

nb::dict to_python(const Hypothesis& hypothesis) {
  nb::dict fields;
  fields["text"] = text_of(hypothesis.text);
  fields["token_ids"] = hypothesis.token_ids;
  fields["score"] = hypothesis.score;
  fields["finish_reason"] = to_string(hypothesis.finish_reason);
  fields["token_scores"] = hypothesis.token_scores;
  fields["top_log_probs"] = to_python(hypothesis.top_log_probs);
  const bool has_attention = !hypothesis.attention.maps.empty();
  fields["attention"] = has_attention ? encdec::python::to_python(hypothesis.attention) : nb::none();
  return fields;
}

}  // namespace

nb::object to_python(const TokenIds& tokens) {
  return nb::cast(tokens);
}

nb::object to_python(const GenerateResult& result) {
  if (result.hypotheses.empty()) return nb::none();
  nb::list hypotheses;
  for (const Hypothesis& hypothesis : result.hypotheses) hypotheses.append(to_python(hypothesis));
  nb::dict fields;
  fields["hypotheses"] = hypotheses;
  fields["source_tokens"] = result.source_tokens;
  fields["source_truncated"] = result.source_truncated;
  return fields;
}

nb::object to_python(const AttentionMaps& maps) {
  nb::dict arrays;
  for (const AttentionMap& map : maps.maps) {
    arrays[nb::cast(attention_names(map.kind).word)] = to_array(map.weights);
  }
  nb::dict fields;
  fields["source"] = maps.source;
  fields["decoder_input"] = maps.decoder_input;
  fields["target"] = maps.target;
  fields["maps"] = arrays;
  return fields;
}

}  // namespace encdec::python
