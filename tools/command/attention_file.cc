#include "command/attention_file.h"

#include <fmt/format.h>

#include "command/options.h"

namespace encdec::cli {
namespace {

// The maximum number of a layer or head. A larger number is assumed to be a typo.
constexpr int kMaxNumber = 1'000'000;

// Parses "all", "mean" or a number; returns nullopt for any other text.
std::optional<AttentionChoice> parse_choice(const std::string& text) {
  if (text == "all") return AttentionChoice{};
  if (text == "mean") return AttentionChoice{.of = AttentionChoice::Of::mean};
  const auto number = parse_number<int>(text);
  if (!number || *number > kMaxNumber || *number < -kMaxNumber) return std::nullopt;
  return AttentionChoice{.of = AttentionChoice::Of::one, .number = *number};
}

void add_choice(CLI::App& command, const std::string& name, const std::string& description,
                std::optional<AttentionChoice>& choice) {
  command
      .add_option_function<std::string>(
          name, [&choice](const std::string& text) { choice = parse_choice(text); }, description)
      ->check(expecting("a number from 0, a negative number that counts from the end, mean or all",
                        [](const std::string& text) { return parse_choice(text).has_value(); }))
      ->type_name("N|mean|all");
}

}  // namespace

AttentionFormat attention_format(const std::string& path) {
  if (path.empty()) return AttentionFormat::terminal;
  const std::string end = name_ending(path);
  if (end == "svg") return AttentionFormat::svg;
  if (end == "json" || end == "jsonl") return AttentionFormat::json;
  if (end == "html" || end == "htm" || end == "png") return AttentionFormat::unknown;
  return AttentionFormat::alignment;
}

void add_attention_choices(CLI::App& command, const std::string& layer, const std::string& head,
                           TypedAttention& typed) {
  add_choice(command, layer, "Layer of the attention: a number from 0 (-1 is the last), mean of all, or all",
             typed.layers);
  add_choice(command, head, "Head of the attention: a number from 0, mean of all, or all", typed.heads);
}

AttentionSelection TypedAttention::selection(Otherwise otherwise) const {
  AttentionSelection selection;
  if (otherwise == Otherwise::last_layer_mean) {
    selection.layers = {.of = AttentionChoice::Of::one, .number = -1};
    selection.heads = {.of = AttentionChoice::Of::mean};
  }
  if (layers) selection.layers = *layers;
  if (heads) selection.heads = *heads;
  return selection;
}

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
    std::string hypotheses;
    for (const Hypothesis& hypothesis : result.hypotheses) {
      if (hypothesis.token_ids.empty()) continue;
      const LabelledAttention attention = label_generated(model_, hypothesis, selection_);
      hypotheses += fmt::format(R"({}{{"alignment":"{}",{}}})", hypotheses.empty() ? "" : ",",
                                hard_alignment(model_, attention, hypothesis), json_members(attention));
    }
    output_.write(fmt::format("{{\"hypotheses\":[{}]}}\n", hypotheses));
  } else {
    if (!best.token_ids.empty()) {
      output_.write(hard_alignment(model_, label_generated(model_, best, selection_), best));
    }
    output_.write("\n");
  }
  output_.flush();
}

}  // namespace encdec::cli
