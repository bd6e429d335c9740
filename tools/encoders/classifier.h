#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/engine/base/named_values.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/model/model.h"
#include "encdec/models/model/request_queue.h"
#include "encdec/models/model/sentence_embedder.h"

namespace encdec {

// How the logits of a text become its scores.
enum class ScoreFunction : std::uint8_t { none, sigmoid, softmax };

// Names as in transformers' function_to_apply.
inline constexpr std::array kScoreFunctionNames = {
    Named{ScoreFunction::none, "none"},
    Named{ScoreFunction::sigmoid, "sigmoid"},
    Named{ScoreFunction::softmax, "softmax"},
};

// A text that several pairs may have: copies share the characters.
class SharedText {
 public:
  SharedText(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  SharedText(const char* text) : SharedText(std::string(text)) {}
  const std::string& operator*() const { return *text_; }

 private:
  std::shared_ptr<const std::string> text_;
};

// A text, or a pair of texts that a model reads together. Pairs in a row with the same SharedText cost one
// tokenization.
struct TextPair {
  SharedText first;
  std::optional<SharedText> second = {};
};

// Options of Classifier::classify().
struct ClassifyOptions {
  // Number of texts read together; 0 for enough to keep the CPU busy. Results do not depend on it.
  int batch_size = 0;
  std::optional<ScoreFunction> function = {};  // if unset, ClassifierLabels::function()
  // Maximum number of tokens of a text or pair, special tokens included; 0: the limit of the folder and the network.
  int max_length = 0;
  LongSources long_texts = LongSources::truncate;     // handling of a text with more tokens
  Truncation truncation = Truncation::longest_first;  // how pairs are shortened
};

// Options of Classifier::rerank().
struct RerankOptions {
  ClassifyOptions classify = {};  // without `function` and `truncation`
  int top_n = 0;                  // number of documents to return; 0 for all
  bool raw_scores = false;        // scores are logits, whatever the folder's files say
};

// Options of Classifier::classify_by_labels().
struct ZeroShotOptions {
  ClassifyOptions classify = {};  // without `function` and `truncation`: a text is shortened, never a label's sentence
  std::string hypothesis_template = "This example is {}.";  // sentence with {} in place of the label
  bool multi_label = false;                                 // labels are independent: each has a score from 0 to 1
};

// A document and how well it answers the query.
struct Ranking {
  std::size_t index = 0;  // number of the document, from 0
  float score = 0;
};

// How the labels of tokens become entities: aggregation_strategy of transformers' pipeline "token-classification".
enum class Aggregation : std::uint8_t {
  none,     // each token is an entity
  simple,   // neighbours with the same label are one entity
  first,    // the same for words, which have the label of their first token,
  average,  // the label with the highest mean score,
  max,      // or the label of the token with the highest score
};

inline constexpr std::array kAggregationNames = {
    Named{Aggregation::none, "none"},       Named{Aggregation::simple, "simple"}, Named{Aggregation::first, "first"},
    Named{Aggregation::average, "average"}, Named{Aggregation::max, "max"},
};

// Options of Classifier::tag().
struct TagOptions {
  int batch_size = 0;  // as in ClassifyOptions
  int max_length = 0;  // as in ClassifyOptions
  LongSources long_texts = LongSources::truncate;
  Aggregation aggregation = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};  // labels of entities to leave out
  // If not 0, a text that is too long is read in windows, of which neighbours have this number of tokens in common. Of
  // entities that overlap, the longer one stays, or else the one with the higher score. Needs an aggregation.
  int stride = 0;
};

// A part of a text with its label.
struct Entity {
  std::string label = {};     // "B-PER"; aggregated without its prefix: "PER"
  float score = 0;            // from 0 to 1
  std::string word = {};      // the token as the vocabulary spells it; aggregated its text
  std::size_t token = 0;      // number of the token among all tokens of the text; 0 if aggregated
  TextRange characters = {};  // the part of the text, in code points
  TextRange bytes = {};       // the same in bytes
};

// The labels of a classifier, and how its logits become scores: transformers' pipelines "text-classification" and
// "token-classification", and sentence-transformers' CrossEncoder. Read-only.
class ClassifierLabels {
 public:
  // Reads id2label and problem_type of config.json, and the activation of a CrossEncoder: from config.json or from
  // config_sentence_transformers.json of `folder`. Throws ConfigError, naming the file, unless the labels are
  // numbered from 0 to `labels` - 1.
  ClassifierLabels(const std::filesystem::path& folder, const JsonObject& config, Dim labels);

  const std::vector<std::string>& names() const { return names_; }
  // Returns the function of text-classification: from problem_type, else sigmoid for one label and softmax for more.
  ScoreFunction function() const { return function_; }
  // Returns the function of a CrossEncoder: from the folder's files, else sigmoid for one label and none for more.
  ScoreFunction ranking_function() const { return ranking_function_; }
  // Returns scores of a text by labels that the model was not trained on: transformers' "zero-shot-classification".
  // `logits` [candidates, labels] belong to hypotheses(). As in transformers, the first label that begins with
  // "entail" in lower case means "the first text implies the second"; without one, the last label does.
  std::vector<float> candidate_scores(std::span<const float> logits, bool multi_label) const;

 private:
  std::vector<std::string> names_;
  ScoreFunction function_ = ScoreFunction::softmax;
  ScoreFunction ranking_function_ = ScoreFunction::sigmoid;
};

// A Model that classifies texts, pairs of texts or tokens. All functions may be called from many threads at once;
// copies share one model. Functions throw as Model::generate() does, and ConfigError for a model that does not do their
// work.
class Classifier {
 public:
  // Throws ConfigError if the labels in the model's files are damaged. labels() is null without a head for labels.
  explicit Classifier(Model model);

  const Model& model() const { return model_; }
  // Returns the labels of a classifier; null for other models.
  const std::shared_ptr<const ClassifierLabels>& labels() const { return labels_; }

  // Returns the scores of each text or pair of texts, float32 [N, labels]; labels() has their names.
  Tensor classify(std::span<const TextPair> texts, const ClassifyOptions& options = {}) const;
  // Returns the scores of each text by labels that the model was not trained on, float32 [N, labels]: how far a natural
  // language inference model finds that the text implies a sentence with the label (Yin et al. 2019, section 4.1;
  // transformers' pipeline "zero-shot-classification"). Throws InputError if there are no labels or the template has no
  // place for them.
  Tensor classify_by_labels(std::span<const std::string> texts, std::span<const std::string> labels,
                            const ZeroShotOptions& options = {}) const;
  // Returns the entities of each text: names of persons, places and the like, as the model was trained. Throws
  // InputError if the tokenizer does not know from which characters it made a token.
  std::vector<std::vector<Entity>> tag(std::span<const std::string> texts, const TagOptions& options = {}) const;
  // Returns how well each document answers the query, the best first. Each is read together with the query (Nogueira &
  // Cho 2019; sentence-transformers' CrossEncoder). Throws ConfigError for a model with more than one label, and
  // InputError if there are no documents.
  std::vector<Ranking> rerank(const std::string& query, std::span<const std::string> documents,
                              const RerankOptions& options = {}) const;

  // Submit texts to a queue of this model: texts of many requests are read in one pass. They throw as classify() and
  // tag() do. `client`: see RequestQueue::submit().
  Request submit(RequestQueue& queue, std::span<const TextPair> texts, const ClassifyOptions& options,
                 Handlers<VectorResult> handlers, std::uint64_t client = 0) const;
  Request submit(RequestQueue& queue, std::span<const std::string> texts, const TagOptions& options,
                 Handlers<std::vector<Entity>> handlers, std::uint64_t client = 0) const;

 private:
  Model model_;
  std::shared_ptr<const ClassifierLabels> labels_;
};

// Throws ConfigError unless the model is a classifier of this kind.
void expect_head(const Model& model, HeadKind kind);

// Turns the logits of one row into scores, in place.
void to_scores(ScoreFunction function, std::span<float> logits);

// Returns the labels of a list with commas, without spaces around them and without empty ones.
std::vector<std::string> split_labels(std::string_view list);
// Returns for each label the sentence that says that a text has it. Throws InputError if there are no labels, if the
// template has no {} for them, or if it is too long for their number.
std::vector<SharedText> hypotheses(std::span<const std::string> labels, const std::string& hypothesis_template);

// Returns the best documents first, at most `top_n` unless that is 0. Equal scores stay in the order of the documents.
std::vector<Ranking> ranked(std::span<const float> scores, int top_n);

// Throws InputError if the number of pairs times the bytes of the longest first text that pairs in a row share is too
// large. `max_tokens` is the maximum number of tokens of a pair; 0: no limit.
void check_shared_texts(std::span<const TextPair> pairs, std::size_t max_tokens);

}  // namespace encdec
