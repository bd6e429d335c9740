#include "encdec/models/classification/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/tokenizer/base/lower_case.h"

namespace encdec {
namespace {

// Returns the activation of a CrossEncoder; nullopt if the files name none, or one that sentence-transformers ignores.
std::optional<ScoreFunction> cross_encoder_function(const std::filesystem::path& folder, const JsonObject& config) {
  std::optional<std::string> name;
  if (const auto path = folder / "config_sentence_transformers.json"; file_exists(path)) {
    name = read_json_object(path).string("activation_fn");  // from version 5.4 on
  }
  if (const auto settings = config.object("sentence_transformers"); settings && !name) {
    name = settings->string("activation_fn");  // from version 4.0 on
  }
  if (!name) name = config.string("sbert_ce_default_activation_function");
  if (!name || !name->starts_with("torch.")) return std::nullopt;
  if (name->ends_with(".Sigmoid")) return ScoreFunction::sigmoid;
  if (name->ends_with(".Identity")) return ScoreFunction::none;
  return std::nullopt;
}

ScoreFunction pipeline_function(const JsonObject& config, std::size_t labels) {
  const std::string problem = config.string("problem_type").value_or("");
  if (problem == "regression") return ScoreFunction::none;
  if (problem == "multi_label_classification" || labels == 1) return ScoreFunction::sigmoid;
  return ScoreFunction::softmax;
}

// Throws InputError if a text is too long to be used `count` times.
void check_shared(std::string_view what, std::size_t bytes, std::size_t count) {
  constexpr std::size_t kAlways = 64u << 10, kTogether = 64u << 20;
  const std::size_t most = count < 2 ? bytes : std::max(kAlways, kTogether / count);
  if (bytes <= most) return;
  throw InputError(fmt::format("{} of {} bytes for {} inputs, expected at most {} bytes", what, bytes, count, most));
}

}  // namespace

void check_shared_texts(std::span<const TextPair> pairs, std::size_t max_tokens) {
  std::size_t longest = 0;
  const std::string* last = nullptr;
  for (const TextPair& pair : pairs) {
    if (&*pair.first == last) longest = std::max(longest, last->size());
    last = &*pair.first;
  }
  check_shared("a text", max_tokens == 0 ? longest : std::min(longest, max_tokens), pairs.size());
}

Classifier::Classifier(const std::filesystem::path& folder, const JsonObject& config, Dim labels)
    : labels_(static_cast<std::size_t>(labels)) {
  const auto names = config.object("id2label");
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const std::string key = std::to_string(i);
    if (!names) {
      labels_[i] = "LABEL_" + key;
      continue;
    }
    const auto found = names->value().find(key);
    if (found == names->value().end()) {
      refuse<ConfigError>(names->where(), "no label {}, expected labels from 0 to {}", key, labels_.size() - 1);
    }
    labels_[i] = found->is_string() ? found->get<std::string>() : found->dump();
  }
  function_ = pipeline_function(config, labels_.size());
  const ScoreFunction usual = labels_.size() == 1 ? ScoreFunction::sigmoid : ScoreFunction::none;
  ranking_function_ = cross_encoder_function(folder, config).value_or(usual);
}

std::vector<float> Classifier::candidate_scores(std::span<const float> logits, bool multi_label) const {
  const std::size_t outputs = labels_.size(), candidates = logits.size() / outputs;
  const auto found =
      std::ranges::find_if(labels_, [](const std::string& label) { return lower_case(label).starts_with("entail"); });
  const std::size_t entailed = found == labels_.end() ? outputs - 1 : static_cast<std::size_t>(found - labels_.begin());
  std::vector<float> scores;
  if (candidates > 1 && !multi_label) {
    for (std::size_t i = 0; i < candidates; ++i) scores.push_back(logits[i * outputs + entailed]);
    to_scores(ScoreFunction::softmax, scores);
    return scores;
  }
  const std::size_t contradicted = entailed == 0 ? outputs - 1 : 0;
  for (std::size_t i = 0; i < candidates; ++i) {
    std::array<float, 2> both = {logits[i * outputs + contradicted], logits[i * outputs + entailed]};
    to_scores(ScoreFunction::softmax, both);
    scores.push_back(both[1]);
  }
  return scores;
}

void to_scores(ScoreFunction function, std::span<float> logits) {
  if (function == ScoreFunction::sigmoid) {
    for (float& x : logits) x = 1.0f / (1.0f + std::exp(-x));
  }
  if (function != ScoreFunction::softmax) return;
  const float largest = std::ranges::max(logits);
  float sum = 0;
  for (float& x : logits) sum += x = std::exp(x - largest);
  for (float& x : logits) x /= sum;
}

std::vector<std::string> split_labels(std::string_view list) {
  std::vector<std::string> labels;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view label = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    label.remove_prefix(std::min(label.find_first_not_of(' '), label.size()));
    label = label.substr(0, label.find_last_not_of(' ') + 1);
    if (!label.empty()) labels.emplace_back(label);
  }
  return labels;
}

std::vector<SharedText> hypotheses(std::span<const std::string> labels, const std::string& hypothesis_template) {
  constexpr std::string_view kPlace = "{}";
  const std::size_t place = hypothesis_template.find(kPlace);
  if (place == std::string::npos) {
    throw InputError(
        fmt::format("hypothesis template '{}', expected one with {{}} for the label", printable(hypothesis_template)));
  }
  if (labels.empty()) throw InputError("no labels, expected at least one");
  check_shared("a template", hypothesis_template.size(), labels.size());
  std::vector<SharedText> sentences;
  for (const std::string& label : labels) {
    std::string sentence = hypothesis_template;
    sentences.push_back(sentence.replace(place, kPlace.size(), label));
  }
  return sentences;
}

std::vector<Ranking> ranked(std::span<const float> scores, int top_n) {
  std::vector<Ranking> rankings;
  for (const float score : scores) rankings.push_back({rankings.size(), score});
  std::ranges::stable_sort(rankings, std::greater(), &Ranking::score);
  if (top_n > 0) rankings.resize(std::min(rankings.size(), static_cast<std::size_t>(top_n)));
  return rankings;
}

}  // namespace encdec
