#include "encdec/encoders/classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/encoders/text_request.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// Returns a CrossEncoder's activation, or nullopt if the files have no activation that sentence-transformers uses.
std::optional<ScoreFunction> cross_encoder_function(const std::filesystem::path& folder, const JsonObject& config) {
  std::optional<std::string> name;
  if (const auto path = folder / "config_sentence_transformers.json"; file_exists(path)) {
    name = read_json_object(path).string("activation_fn");  // sentence-transformers 5.4 or later
  }
  if (const auto settings = config.object("sentence_transformers"); settings && !name) {
    name = settings->string("activation_fn");  // sentence-transformers 4.0 or later
  }
  if (!name) name = config.string("sbert_ce_default_activation_function");
  if (!name || !name->starts_with("torch.")) return std::nullopt;
  if (name->ends_with(".Sigmoid")) return ScoreFunction::sigmoid;
  if (name->ends_with(".Identity")) return ScoreFunction::none;
  return std::nullopt;
}

// Returns the default function_to_apply of transformers' pipeline "text-classification".
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

// A request that classifies texts. Its result vectors are the scores of a text by label.
class ClassifyRequest final : public VectorRequest {
 public:
  // Throws the exceptions of TextRequest, and ConfigError if the model does not classify texts.
  ClassifyRequest(const Classifier& classifier, const ClassifyOptions& options, Handlers<VectorResult> handlers)
      : VectorRequest(classifier.model(), settings_of(classifier.model(), options), std::move(handlers)),
        modules_(classifier.model().modules()),
        rows_left_out_(modules_.rows_left_out(parts().tokenizer, prompt())),
        labels_(static_cast<Dim>(classifier.labels()->names().size())),
        function_(options.function.value_or(classifier.labels()->function())) {}

  // Tokenizes the texts. If consecutive pairs share their first text, tokenizes that text once.
  std::vector<DecodeJob> jobs(std::span<const TextPair> texts) const {
    check_shared_texts(texts, max_length());
    std::vector<DecodeJob> jobs;
    const std::string* last = nullptr;  // the text of `segment`
    TokenIds segment;
    for (const auto& [first, second] : texts) {
      jobs.push_back(job(jobs.size(), [&]() -> Encoding {
        if (!second) return {tokenizer().encode(prompt() + *first, encode_options())};
        if (std::exchange(last, &*first) != &*first) segment = tokenizer().encode_segment(prompt() + *first);
        return tokenizer().join_pair(segment, tokenizer().encode_segment(**second), encode_options());
      }));
    }
    return jobs;
  }

  Dim width() const override { return labels_; }

 private:
  static Settings settings_of(const Model& model, const ClassifyOptions& options) {
    expect_head(model, HeadKind::sequences);
    const SentenceEmbedder& modules = model.modules();
    return {.compute = modules.is_cross_encoder() ? read_pooled_rows(model) : read_logits,
            .prompt = modules.prompt({}, {}),
            .max_length = options.max_length,
            .truncation = options.truncation,
            .long_texts = options.long_texts,
            .batch_size = options.batch_size};
  }

  VectorResult vector_of(const TokenIds& /*ids*/, const Tensor& rows) const override {
    VectorResult result;
    result.values = modules_.is_cross_encoder() ? modules_.embed(rows, rows_left_out_)
                                                : std::vector(rows.row(0), rows.row(0) + labels_);
    to_scores(function_, result.values);
    return result;
  }

  const SentenceEmbedder& modules_;  // head of a CrossEncoder; other heads are part of the graph
  Dim rows_left_out_;                // number of leading rows that pooling skips
  Dim labels_;
  ScoreFunction function_;
};

}  // namespace

void check_shared_texts(std::span<const TextPair> pairs, std::size_t max_tokens) {
  std::size_t longest = 0;            // size of the longest text that consecutive pairs share
  const std::string* last = nullptr;  // the first text of the previous pair
  for (const TextPair& pair : pairs) {
    if (&*pair.first == last) longest = std::max(longest, last->size());
    last = &*pair.first;
  }
  check_shared("a text", max_tokens == 0 ? longest : std::min(longest, max_tokens), pairs.size());
}

ClassifierLabels::ClassifierLabels(const std::filesystem::path& folder, const JsonObject& config, Dim labels)
    : names_(static_cast<std::size_t>(labels)) {
  // Without id2label, use transformers' default names.
  const auto names = config.object("id2label");
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::string key = std::to_string(i);
    if (!names) {
      names_[i] = "LABEL_" + key;
      continue;
    }
    const auto found = names->value().find(key);
    if (found == names->value().end()) {
      refuse<ConfigError>(names->where(), "no label {}, expected labels from 0 to {}", key, names_.size() - 1);
    }
    names_[i] = found->is_string() ? found->get<std::string>() : found->dump();
  }
  function_ = pipeline_function(config, names_.size());
  const ScoreFunction usual = names_.size() == 1 ? ScoreFunction::sigmoid : ScoreFunction::none;
  ranking_function_ = cross_encoder_function(folder, config).value_or(usual);
}

std::vector<float> ClassifierLabels::candidate_scores(std::span<const float> logits, bool multi_label) const {
  // Compare the candidates' entailment logits with each other. If `multi_label`, compare each candidate's entailment
  // logit with the candidate's contradiction logit.
  const std::size_t outputs = names_.size(), candidates = logits.size() / outputs;
  const auto found =
      std::ranges::find_if(names_, [](const std::string& label) { return lower_case(label).starts_with("entail"); });
  const std::size_t entailed = found == names_.end() ? outputs - 1 : static_cast<std::size_t>(found - names_.begin());
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
  // Subtract the largest logit, so that exp() does not overflow.
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
  constexpr std::string_view kLabelSlot = "{}";
  const std::size_t position = hypothesis_template.find(kLabelSlot);
  if (position == std::string::npos) {
    throw InputError(
        fmt::format("hypothesis template '{}', expected one with {{}} for the label", printable(hypothesis_template)));
  }
  if (labels.empty()) throw InputError("no labels, expected at least one");
  check_shared("a template", hypothesis_template.size(), labels.size());
  std::vector<SharedText> sentences;
  for (const std::string& label : labels) {
    std::string sentence = hypothesis_template;
    sentences.push_back(sentence.replace(position, kLabelSlot.size(), label));
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

void expect_head(const Model& model, HeadKind kind) {
  const auto name = [](HeadKind head) {
    return head == HeadKind::sequences ? "a classifier of texts"
           : head == HeadKind::tokens  ? "a classifier of tokens"
                                       : "a model without a head for labels";
  };
  const HeadConfig& own = model.config().head;
  const HeadKind head = own.classifies_texts() ? HeadKind::sequences : own.kind;
  if (head == kind) return;
  const auto& folder = model.config().has_decoder() ? model.checkpoint().folder : model.modules().folder();
  refuse<ConfigError>(folder.string(), "{}, expected {}: architectures in config.json end with {}", name(head),
                      name(kind), kind == HeadKind::tokens ? "ForTokenClassification" : "ForSequenceClassification");
}

Classifier::Classifier(Model model) : model_(std::move(model)) {
  const HeadConfig& head = model_.config().head;
  if (!head.classifies()) return;
  labels_ = std::make_shared<const ClassifierLabels>(model_.modules().folder(), *model_.checkpoint().settings.network,
                                                     head.labels);
}

Tensor Classifier::classify(std::span<const TextPair> texts, const ClassifyOptions& options) const {
  return read_vectors<ClassifyRequest>(*this, texts, options);
}

Tensor Classifier::classify_by_labels(std::span<const std::string> texts, std::span<const std::string> labels,
                                      const ZeroShotOptions& options) const {
  // Classify each text paired with each label's sentence. Truncate only the text, not the sentence.
  ClassifyOptions raw = options.classify;
  raw.function = ScoreFunction::none;
  raw.truncation = Truncation::only_first;
  const auto outputs = static_cast<std::size_t>(ClassifyRequest(*this, raw, {}).width());
  const std::vector<SharedText> sentences = hypotheses(labels, options.hypothesis_template);
  std::vector<TextPair> pairs;
  for (const std::string& each : texts) {
    const SharedText text(each);
    for (const SharedText& sentence : sentences) pairs.push_back({text, sentence});
  }
  // Convert the logits of each text's pairs to scores by label.
  const Tensor logits = classify(pairs, raw);
  Tensor scores = Tensor::allocate({static_cast<Dim>(texts.size()), static_cast<Dim>(labels.size())});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const float* of_text = logits.data<float>() + i * labels.size() * outputs;
    std::ranges::copy(labels_->candidate_scores({of_text, labels.size() * outputs}, options.multi_label),
                      scores.row(static_cast<Dim>(i)));
  }
  return scores;
}

std::vector<Ranking> Classifier::rerank(const std::string& query, std::span<const std::string> documents,
                                        const RerankOptions& options) const {
  ClassifyOptions pairs = options.classify;
  pairs.truncation = Truncation::longest_first;
  const Dim labels = ClassifyRequest(*this, pairs, {}).width();
  if (labels != 1) {
    refuse<ConfigError>(model_.modules().folder().string(), "{} labels, expected 1: a model that ranks", labels);
  }
  if (documents.empty()) throw InputError("a query without documents, expected at least one");
  check_range("top_n", options.top_n, 0, std::numeric_limits<int>::max());
  pairs.function = options.raw_scores ? ScoreFunction::none : labels_->ranking_function();
  const SharedText shared(query);
  std::vector<TextPair> texts;
  for (const std::string& document : documents) texts.push_back({shared, document});
  const Tensor scores = classify(texts, pairs);
  return ranked({scores.data<float>(), documents.size()}, options.top_n);
}

Request Classifier::submit(RequestQueue& queue, std::span<const TextPair> texts, const ClassifyOptions& options,
                           Handlers<VectorResult> handlers, std::uint64_t client) const {
  return submit_texts(queue, std::make_shared<ClassifyRequest>(*this, options, std::move(handlers)), texts, client);
}

}  // namespace encdec
