#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "encdec/engine/base/named_values.h"
#include "encdec/models/classification/classifier.h"
#include "encdec/models/embedding/sentence_embedder.h"
#include "encdec/models/embedding/text_task.h"

namespace encdec {

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

// Options of Model::tag().
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

// The work of Model::tag().
class TaggingTask final : public TextTask {
 public:
  // `folder` has the limit of tokens. Throws as TextTask does, and ConfigError if an option is out of range. REQUIRES:
  // what `parts` refers to and `classifier` outlive this object, and the model's head is for tokens.
  TaggingTask(const ModelParts& parts, const Classifier& classifier, const SentenceEmbedder& folder,
              TagOptions options);

  // Returns the byte at which each character of a text begins, and at last the size of the text.
  static std::vector<std::size_t> character_bytes(std::string_view text);
  // Returns the entities of a text in one of its windows. `bytes` is character_bytes(text), `encoding` one of
  // encode_windows(text), `logits` [tokens, labels] those of its tokens.
  std::vector<Entity> entities(const std::string& text, std::span<const std::size_t> bytes, const Encoding& encoding,
                               const Tensor& logits) const;
  // Returns the entities of all windows of a text without those that TagOptions::stride drops.
  static std::vector<Entity> join_windows(std::vector<Entity> entities);

 private:
  const Tokenizer& tokenizer_;
  const Classifier& classifier_;
  TagOptions options_;
};

}  // namespace encdec
