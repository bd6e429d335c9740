#include "encdec/attention_file.h"

#include <fmt/format.h>

namespace encdec::cli {

AttentionFile::AttentionFile(const std::string& path, const TypedAttention& typed, const Model& model)
    : format_(attention_format(path)),
      selection_(typed.selection(TypedAttention::Otherwise::last_layer_mean)),
      output_(path),
      model_(model) {
  selection_.kinds = {main_kind(model.config())};
}

void AttentionFile::write(const GenerateResult& result) {
  const Hypothesis& best = result.hypotheses.front();
  if (format_ == AttentionFormat::json) {
    write_json(result);
  } else {
    if (!best.token_ids.empty()) {
      output_.write(hard_alignment(model_, label_generated(model_, best, selection_), best));
    }
    output_.write("\n");
  }
  output_.flush();
}

void AttentionFile::write_json(const GenerateResult& result) {
  std::string hypotheses;
  for (const Hypothesis& hypothesis : result.hypotheses) {
    if (hypothesis.token_ids.empty()) continue;
    const LabelledAttention attention = label_generated(model_, hypothesis, selection_);
    hypotheses += fmt::format(R"({}{{"alignment":"{}",{}}})", hypotheses.empty() ? "" : ",",
                              hard_alignment(model_, attention, hypothesis), json_members(attention));
  }
  output_.write(fmt::format("{{\"hypotheses\":[{}]}}\n", hypotheses));
}

}  // namespace encdec::cli
