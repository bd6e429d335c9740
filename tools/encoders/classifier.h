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

// A text that several pairs can share: copies of a SharedText do not copy the characters.
class SharedText {
 public:
  SharedText(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  SharedText(const char* text) : SharedText(std::string(text)) {}
  const std::string& operator*() const { return *text_; }

 private:
  std::shared_ptr<const std::string> text_;
};

// A text, or a pair of texts in one input. If consecutive pairs share `first`, that text is tokenized only once.
struct TextPair {
  SharedText first;
  std::optional<SharedText> second = {};
};

struct ClassifyOptions {
  int batch_size = 0;                          // texts per batch; 0: automatic. Does not change the results
  std::optional<ScoreFunction> function = {};  // default: ClassifierLabels::function()
  // Maximum number of tokens of a text or pair, including special tokens; 0: the most that the folder and
  // the network allow.
  int max_length = 0;
  LongSources long_texts = LongSources::truncate;     // what to do with a text that has more tokens
  Truncation truncation = Truncation::longest_first;  // for pairs
};

struct RerankOptions {
  ClassifyOptions classify = {};  // `function` and `truncation` are ignored
  int top_n = 0;                  // number of documents to return; 0: all
  bool raw_scores = false;        // return logits, even if the folder's files specify an activation
};

// Options of Classifier::classify_by_labels().
struct ZeroShotOptions {
  ClassifyOptions classify = {};  // `function` and `truncation` are ignored; only the text is truncated
  std::string hypothesis_template = "This example is {}.";  // {} is replaced by the label
  bool multi_label = false;                                 // score each label independently, from 0 to 1
};

// A document and its relevance to the query.
struct Ranking {
  std::size_t index = 0;  // index of the document, from 0
  float score = 0;
};

// How the labels of tokens become entities: aggregation_strategy of transformers' pipeline "token-classification".
enum class Aggregation : std::uint8_t {
  none,     // each token is an entity
  simple,   // adjacent tokens with the same label are one entity
  first,    // adjacent words with the same label are one entity; a word has the label of its first token
  average,  // like first, but a word has the label with the highest mean score
  max,      // like first, but a word has the label of its token with the highest score
};

inline constexpr std::array kAggregationNames = {
    Named{Aggregation::none, "none"},       Named{Aggregation::simple, "simple"}, Named{Aggregation::first, "first"},
    Named{Aggregation::average, "average"}, Named{Aggregation::max, "max"},
};

struct TagOptions {
  int batch_size = 0;  // see ClassifyOptions
  int max_length = 0;  // see ClassifyOptions
  LongSources long_texts = LongSources::truncate;
  Aggregation aggregation = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};  // entities with these labels are dropped
  // If not 0, a text that is too long is read in windows; adjacent windows overlap by this number of tokens. Among
  // overlapping entities, the longest is kept; among equally long ones, the one with the highest score. Requires an
  // aggregation.
  int stride = 0;
};

// A labelled range of a text.
struct Entity {
  std::string label = {};     // "B-PER", or "PER" if aggregated
  float score = 0;            // from 0 to 1
  std::string word = {};      // a token, spelled as in the vocabulary; if aggregated, the text
  std::size_t token = 0;      // index of the token, including special tokens; 0 if aggregated
  TextRange characters = {};  // in code points
  TextRange bytes = {};
};

// The labels of a classifier, and the functions that turn its logits into scores: as in transformers' pipelines
// "text-classification" and "token-classification", and in sentence-transformers' CrossEncoder. Read-only.
class ClassifierLabels {
 public:
  // Reads id2label and problem_type from config.json, and a CrossEncoder's activation from config.json or from
  // config_sentence_transformers.json of `folder`. Throws ConfigError, naming the file, unless the labels are numbered
  // from 0 to `labels` - 1.
  ClassifierLabels(const std::filesystem::path& folder, const JsonObject& config, Dim labels);

  const std::vector<std::string>& names() const { return names_; }
  // Returns the function for text-classification: from problem_type, else sigmoid for one label, softmax for more.
  ScoreFunction function() const { return function_; }
  // Returns the function of a CrossEncoder: from the folder's files, else sigmoid for one label, none for more.
  ScoreFunction ranking_function() const { return ranking_function_; }
  // Returns a text's zero-shot scores by candidate label, from the logits [candidates, labels] of its hypotheses(). As
  // in transformers, the entailment label is the first one that begins with "entail", in upper or lower case, or
  // else the last one.
  std::vector<float> candidate_scores(std::span<const float> logits, bool multi_label) const;

 private:
  std::vector<std::string> names_;
  ScoreFunction function_ = ScoreFunction::softmax;
  ScoreFunction ranking_function_ = ScoreFunction::sigmoid;
};

// A Model that classifies texts, pairs of texts or tokens. Thread-safe; copies share one model. Functions throw the
// errors of Model::generate(), and ConfigError if the model lacks the head that they need.
class Classifier {
 public:
  // Accepts models without labels. Throws ConfigError if the labels in the model's files are damaged.
  explicit Classifier(Model model);

  const Model& model() const { return model_; }
  // Returns the labels of a classifier; null for other models.
  const std::shared_ptr<const ClassifierLabels>& labels() const { return labels_; }

  // Returns the scores of texts or pairs of texts, float32 [N, labels], in the order of labels()->names().
  Tensor classify(std::span<const TextPair> texts, const ClassifyOptions& options = {}) const;
  // Zero-shot classification: scores texts by labels that the model was not trained on, float32 [N, labels]. A natural
  // language inference model scores whether the text implies a sentence with the label (Yin et al. 2019, section 4.1;
  // transformers' pipeline "zero-shot-classification"). Throws InputError without labels or if the template lacks {}.
  Tensor classify_by_labels(std::span<const std::string> texts, std::span<const std::string> labels,
                            const ZeroShotOptions& options = {}) const;
  // Returns the entities of each text, such as names of persons and places. Throws InputError if the tokenizer does not
  // support Tokenizer::encode_with_ranges().
  std::vector<std::vector<Entity>> tag(std::span<const std::string> texts, const TagOptions& options = {}) const;
  // Ranks documents by their relevance to the query, the best first. The model reads each document together with the
  // query (Nogueira & Cho 2019; sentence-transformers' CrossEncoder). Throws ConfigError for a model with more than one
  // label, and InputError without documents.
  std::vector<Ranking> rerank(const std::string& query, std::span<const std::string> documents,
                              const RerankOptions& options = {}) const;

  // Submit texts to a queue of this model, which batches the texts of several requests. Throw as classify() and tag()
  // do. `client`: see RequestQueue::submit().
  Request submit(RequestQueue& queue, std::span<const TextPair> texts, const ClassifyOptions& options,
                 Handlers<VectorResult> handlers, std::uint64_t client = 0) const;
  Request submit(RequestQueue& queue, std::span<const std::string> texts, const TagOptions& options,
                 Handlers<std::vector<Entity>> handlers, std::uint64_t client = 0) const;

 private:
  Model model_;
  std::shared_ptr<const ClassifierLabels> labels_;
};

// Throws ConfigError unless the model has a head of this kind.
void expect_head(const Model& model, HeadKind kind);

// Converts the logits of one text to scores, in place.
void to_scores(ScoreFunction function, std::span<float> logits);

// Splits a list at commas. Removes spaces around labels, and empty labels.
std::vector<std::string> split_labels(std::string_view list);
// Returns one hypothesis per label: the template with {} replaced by the label. Throws InputError if there are no
// labels, if the template lacks {}, or if it is too long for the number of labels.
std::vector<SharedText> hypotheses(std::span<const std::string> labels, const std::string& hypothesis_template);

// Sorts documents by score, the best first, and keeps `top_n` of them (0: all). Equal scores stay in input order.
std::vector<Ranking> ranked(std::span<const float> scores, int top_n);

// Limits the memory for shared texts. Throws InputError if the number of pairs times the size of the longest shared
// text is too large. `max_tokens`: maximum number of tokens of a pair; 0: no limit.
void check_shared_texts(std::span<const TextPair> pairs, std::size_t max_tokens);

}  // namespace encdec
