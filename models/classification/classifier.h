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
#include "encdec/models/generation/generate_options.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

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

// Throws InputError if the number of pairs times the bytes of the longest first text that pairs in a row share is too
// large. `max_tokens` is the maximum number of tokens of a pair; 0: no limit.
void check_shared_texts(std::span<const TextPair> pairs, std::size_t max_tokens);

// Options of Model::classify().
struct ClassifyOptions {
  // Number of texts read together; 0 for enough to keep the CPU busy. Results do not depend on it.
  int batch_size = 0;
  std::optional<ScoreFunction> function = {};  // if unset, Classifier::function()
  // Maximum number of tokens of a text or pair, special tokens included; 0 for what the folder and the network allow.
  int max_length = 0;
  LongSources long_texts = LongSources::truncate;     // handling of a text with more tokens
  Truncation truncation = Truncation::longest_first;  // how pairs are shortened
};

// Options of Model::rerank().
struct RerankOptions {
  int batch_size = 0;       // as in ClassifyOptions
  int top_n = 0;            // number of documents to return; 0 for all
  bool raw_scores = false;  // scores are logits, whatever the folder's files say
  int max_length = 0;       // as in ClassifyOptions
  LongSources long_texts = LongSources::truncate;
};

// A document and how well it answers the query.
struct Ranking {
  std::size_t index = 0;  // number of the document, from 0
  float score = 0;
};

// Options of Model::classify_by_labels().
struct ZeroShotOptions {
  int batch_size = 0;  // as in ClassifyOptions
  int max_length = 0;  // as in ClassifyOptions; a text is shortened, never a label's sentence
  LongSources long_texts = LongSources::truncate;
  std::string hypothesis_template = "This example is {}.";  // sentence with {} in place of the label
  bool multi_label = false;                                 // labels are independent: each has a score from 0 to 1
};

// The labels of a classifier, and how its logits become scores: transformers' pipelines "text-classification" and
// "token-classification", and sentence-transformers' CrossEncoder. Read-only.
class Classifier {
 public:
  // Reads id2label and problem_type of config.json, and the activation of a CrossEncoder, which stands in config.json
  // or in config_sentence_transformers.json of `folder`. Throws ConfigError, naming the file, unless the labels are
  // numbered from 0 to `labels` - 1.
  Classifier(const std::filesystem::path& folder, const JsonObject& config, Dim labels);

  const std::vector<std::string>& labels() const { return labels_; }
  // Returns the function of text-classification: from problem_type, else sigmoid for one label and softmax for more.
  ScoreFunction function() const { return function_; }
  // Returns the function of a CrossEncoder: from the folder's files, else sigmoid for one label and none for more.
  ScoreFunction ranking_function() const { return ranking_function_; }
  // Returns scores of a text by labels that the model was not trained on: transformers' "zero-shot-classification".
  // `logits` [candidates, labels()] belong to hypotheses(). As in transformers, the first label that begins with
  // "entail" in lower case means "the first text implies the second"; without one, the last label does.
  std::vector<float> candidate_scores(std::span<const float> logits, bool multi_label) const;

 private:
  std::vector<std::string> labels_;
  ScoreFunction function_ = ScoreFunction::softmax;
  ScoreFunction ranking_function_ = ScoreFunction::sigmoid;
};

// Turns the logits of one row into scores, in place.
void to_scores(ScoreFunction function, std::span<float> logits);

// Returns the labels of a list with commas, without spaces around them and without empty ones.
std::vector<std::string> split_labels(std::string_view list);
// Returns for each label the sentence that says that a text has it. Throws InputError if there are no labels, if the
// template has no {} for them, or if it is too long for their number.
std::vector<SharedText> hypotheses(std::span<const std::string> labels, const std::string& hypothesis_template);

// Returns the best documents first, at most `top_n` unless that is 0. Equal scores stay in the order of the documents.
std::vector<Ranking> ranked(std::span<const float> scores, int top_n);

}  // namespace encdec
