#include "encdec/models/classification/tagger.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// A token or a word with its scores, before it becomes an entity.
struct Part {
  std::vector<float> scores;  // by label
  std::string word;
  std::size_t token = 0;
  TextRange range;
  bool continues_word = false;

  std::size_t label() const { return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin()); }
  float score() const { return scores[label()]; }
};

// Returns a word with its scores as transformers' aggregate_word() does. REQUIRES: there is a part.
Part join_word(std::span<const Part> parts, Aggregation aggregation, const Tokenizer& tokenizer) {
  std::vector<std::string> pieces;
  for (const Part& part : parts) pieces.push_back(part.word);
  std::vector<float> scores = parts.front().scores;
  if (aggregation == Aggregation::max) {
    scores =
        std::ranges::max_element(parts, {}, [](const Part& part) { return std::ranges::max(part.scores); })->scores;
  } else if (aggregation == Aggregation::average) {
    for (std::size_t label = 0; label < scores.size(); ++label) {
      for (const Part& part : parts.subspan(1)) scores[label] += part.scores[label];
      scores[label] /= static_cast<float>(parts.size());
    }
  }
  return {.scores = std::move(scores),
          .word = tokenizer.join(std::move(pieces)),
          .range = {parts.front().range.begin, parts.back().range.end}};
}

std::vector<Part> join_words(std::span<const Part> parts, Aggregation aggregation, const Tokenizer& tokenizer) {
  std::vector<Part> words;
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    for (end = begin + 1; end < parts.size() && parts[end].continues_word;) ++end;
    words.push_back(join_word(parts.subspan(begin, end - begin), aggregation, tokenizer));
  }
  return words;
}

// Returns the name of a label without "B-" or "I-".
std::string_view tag_of(std::string_view label) {
  return label.starts_with("B-") || label.starts_with("I-") ? label.substr(2) : label;
}

// Joins neighbours with the same tag, unless the later one begins an entity.
std::vector<Entity> group(std::span<const Part> parts, std::span<const std::string> labels,
                          const Tokenizer& tokenizer) {
  std::vector<Entity> entities;
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    const std::string_view first = labels[parts[begin].label()];
    std::vector<std::string> words;
    float sum = 0;
    for (end = begin; end < parts.size(); ++end) {
      const std::string_view label = labels[parts[end].label()];
      if (end > begin && (tag_of(label) != tag_of(labels[parts[end - 1].label()]) || label.starts_with("B-"))) break;
      words.push_back(parts[end].word);
      sum += parts[end].score();
    }
    const std::size_t dash = first.find('-');
    entities.push_back({.label = std::string(dash == first.npos ? first : first.substr(dash + 1)),
                        .score = sum / static_cast<float>(end - begin),
                        .word = tokenizer.join(std::move(words)),
                        .characters = {parts[begin].range.begin, parts[end - 1].range.end}});
  }
  return entities;
}

}  // namespace

TaggingTask::TaggingTask(const ModelParts& parts, const Classifier& classifier, const SentenceEmbedder& folder,
                         TagOptions options)
    : TextTask(parts, {.reads = Reads::logits,
                       .max_length = smaller_limit(folder.max_length(), options.max_length),
                       .long_texts = options.long_texts,
                       .batch_size = options.batch_size,
                       .with_ranges = true,
                       .stride = static_cast<std::size_t>(std::max(options.stride, 0))}),
      tokenizer_(*parts.tokenizer),
      classifier_(classifier),
      options_(std::move(options)) {
  check_range("max_length", options_.max_length, 0, std::numeric_limits<int>::max());
  check_range("stride", options_.stride, 0, std::numeric_limits<int>::max());
  if (options_.stride > 0 && options_.aggregation == Aggregation::none) {
    throw ConfigError("stride needs an aggregation: simple, first, average or max");
  }
}

std::vector<std::size_t> TaggingTask::character_bytes(std::string_view text) {
  std::vector<std::size_t> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_continuation(text[i])) bytes.push_back(i);
  }
  bytes.push_back(text.size());
  return bytes;
}

std::vector<Entity> TaggingTask::entities(const std::string& text, std::span<const std::size_t> bytes,
                                          const Encoding& encoding, const Tensor& logits) const {
  const auto text_of = [&](const TextRange& range) {
    return text.substr(bytes[range.begin], bytes[range.end] - bytes[range.begin]);
  };
  std::vector<Part> parts;
  for (std::size_t i = encoding.special_before; i + encoding.special_after < encoding.ids.size(); ++i) {
    const float* row = logits.row(static_cast<Dim>(i));
    Part part{.scores = {row, row + logits.width()},
              .word = std::string(tokenizer_.piece(encoding.ids[i], TextSide::source)),
              .token = i,
              .range = encoding.ranges[i]};
    to_scores(ScoreFunction::softmax, part.scores);
    const auto [begin, end] = part.range;
    // As transformers does: where pieces do not say that they continue a word, a word begins after a space.
    part.continues_word =
        tokenizer_.marks_continuing_pieces()
            ? character_bytes(part.word).size() - 1 != end - begin
            : begin > 0 && text_of({begin - 1, std::min(begin + 1, bytes.size() - 1)}).find(' ') == std::string::npos;
    if (encoding.ids[i] == tokenizer_.unknown_token()) {
      part.word = text_of(part.range);
      part.continues_word = false;
    }
    parts.push_back(std::move(part));
  }
  if (options_.aggregation != Aggregation::none && options_.aggregation != Aggregation::simple) {
    parts = join_words(parts, options_.aggregation, tokenizer_);
  }
  const std::vector<std::string>& labels = classifier_.labels();
  std::vector<Entity> entities;
  if (options_.aggregation != Aggregation::none) {
    entities = group(parts, labels, tokenizer_);
  } else {
    for (Part& part : parts) {
      entities.push_back({labels[part.label()], part.score(), std::move(part.word), part.token, part.range, {}});
    }
  }
  std::erase_if(entities, [&](const Entity& entity) {
    return std::ranges::find(options_.ignore_labels, entity.label) != options_.ignore_labels.end();
  });
  for (Entity& entity : entities) entity.bytes = {bytes[entity.characters.begin], bytes[entity.characters.end]};
  return entities;
}

std::vector<Entity> TaggingTask::join_windows(std::vector<Entity> entities) {
  std::ranges::stable_sort(entities, {}, [](const Entity& entity) { return entity.characters.begin; });
  std::vector<Entity> kept;
  for (Entity& entity : entities) {
    if (kept.empty() || entity.characters.begin >= kept.back().characters.end) {
      kept.push_back(std::move(entity));
      continue;
    }
    const auto rank = [](const Entity& each) {
      return std::pair(each.characters.end - each.characters.begin, each.score);
    };
    if (rank(entity) > rank(kept.back())) kept.back() = std::move(entity);
  }
  return kept;
}

}  // namespace encdec
