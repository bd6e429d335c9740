#include "encdec/attention_file.h"

#include <fmt/format.h>

#include "encdec/lines.h"

namespace encdec::cli {

AttentionFile::AttentionFile(const std::string& path, const TypedAttention& typed, const Model& model)
    : format_(attention_format(path)),
      selection_(typed.selection(format_ == AttentionFormat::page ? TypedAttention::Otherwise::all
                                                                  : TypedAttention::Otherwise::last_layer_mean)),
      output_(path, format_ == AttentionFormat::page ? OutputFile::Unfinished::remove : OutputFile::Unfinished::keep),
      model_(model) {
  selection_.kinds = {main_kind(model.config())};
  if (format_ == AttentionFormat::page) page_.emplace([this](std::string_view text) { output_.write(text); });
}

void AttentionFile::write(const std::string& source, const GenerateResult& result) {
  const Hypothesis& best = result.hypotheses.front();
  const bool is_empty = best.token_ids.empty();
  switch (format_) {
    case AttentionFormat::page:
      if (!is_empty) write_page(source, best);
      break;
    case AttentionFormat::json: write_json(result); break;
    default:
      if (!is_empty) output_.write(to_pharaoh(hard_alignment(model_, label_generated(model_, best, selection_), best)));
      output_.write("\n");
  }
  output_.flush();
}

void AttentionFile::write_page(const std::string& source, const Hypothesis& best) {
  const std::string target = best.text.empty() ? format_token_ids(best.token_ids) : best.text;
  LabelledAttention attention = label_generated(model_, best, selection_);
  // Falls back to the mean, because add() rejects more weights and one long text must not stop the whole page.
  if (attention.map.weights.elements() > AttentionPage::kMaxWeights) attention = last_layer_mean(attention);
  page_->add({.title = source + " \u2192 " + target,
              .attentions = {attention},
              .alignment = hard_alignment(model_, attention, best)});
}

void AttentionFile::write_json(const GenerateResult& result) {
  std::string hypotheses;
  for (const Hypothesis& hypothesis : result.hypotheses) {
    if (hypothesis.token_ids.empty()) continue;
    const LabelledAttention attention = label_generated(model_, hypothesis, selection_);
    hypotheses += fmt::format(R"({}{{"alignment":"{}",{}}})", hypotheses.empty() ? "" : ",",
                              to_pharaoh(hard_alignment(model_, attention, hypothesis)), json_members(attention));
  }
  output_.write(fmt::format("{{\"hypotheses\":[{}]}}\n", hypotheses));
}

void AttentionFile::commit() {
  if (page_) page_->end();
  output_.commit();
}

}  // namespace encdec::cli
