#include "attention_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "attention_labels.h"
#include "attention_text.h"
#include "commands.h"

namespace encdec::cli {
namespace {

AttentionSelection selection_for(AttentionFormat format, const TypedAttention& typed, const TransformerConfig& config) {
  AttentionSelection selection =
      selection_of(typed, format == AttentionFormat::page ? UntypedChoices::all : UntypedChoices::last_layer_mean);
  selection.kinds = {main_kind(config)};
  return selection;
}

}  // namespace

AttentionFile::AttentionFile(const std::string& path, const TypedAttention& typed, const Model& model)
    : format_(attention_format(path)),
      selection_(selection_for(format_, typed, model.config())),
      output_(path, format_ == AttentionFormat::page ? OutputFile::Unfinished::remove : OutputFile::Unfinished::keep),
      model_(model) {}

// Its end token stands for nothing in the text.
std::string AttentionFile::alignment_of(const LabelledAttention& attention, const Hypothesis& hypothesis) const {
  const auto& ends = model_.generation_config().eos_tokens;
  std::size_t count = hypothesis.token_ids.size();
  if (count > 0 && std::ranges::find(ends, hypothesis.token_ids.back()) != ends.end()) --count;
  return hard_alignment(attention.map, count);
}

void AttentionFile::write(const std::string& source, const GenerateResult& result) {
  std::string json;
  for (const Hypothesis& hypothesis : result.hypotheses) {
    if (hypothesis.attention.maps.empty()) break;  // of an empty source
    const LabelledAttention attention = label_generated(model_, hypothesis, selection_);
    const std::string alignment = alignment_of(attention, hypothesis);
    if (format_ == AttentionFormat::json) {
      json += fmt::format(R"({}{{"alignment":"{}",{}}})", json.empty() ? "" : ",", alignment,
                          json_members(attention, selection_));
      continue;
    }
    output_.write(alignment);
    break;
  }
  output_.write(format_ == AttentionFormat::json ? fmt::format("{{\"hypotheses\":[{}]}}\n", json) : "\n");
  output_.flush();
}

void AttentionFile::commit() {
  output_.commit();
}

}  // namespace encdec::cli
