#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "encdec/encoders/classifier.h"
#include "encdec/encoders/text_request.h"
#include "encdec/engine/base/mutex.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// A token or a word with its scores, before aggregation.
struct Part {
  std::vector<float> scores;  // one score per label
  std::string word;
  std::size_t token = 0;
  TextRange range;
  bool continues_word = false;

  std::size_t label() const { return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin()); }
  float score() const { return scores[label()]; }
};

// Joins the tokens of a word, like transformers' aggregate_word().
// REQUIRES: `parts` is not empty.
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

// Joins tokens into words. A token that continues a word is joined to the previous tokens.
std::vector<Part> join_words(std::span<const Part> parts, Aggregation aggregation, const Tokenizer& tokenizer) {
  std::vector<Part> words;
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    for (end = begin + 1; end < parts.size() && parts[end].continues_word;) ++end;
    words.push_back(join_word(parts.subspan(begin, end - begin), aggregation, tokenizer));
  }
  return words;
}

// Returns the label without its prefix, "B-" or "I-".
std::string_view tag_of(std::string_view label) {
  return label.starts_with("B-") || label.starts_with("I-") ? label.substr(2) : label;
}

// Joins adjacent parts with the same tag into an entity with their mean score. A label with "B-" begins a new entity.
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

// Returns the byte offset of each character of a text, followed by the size of the text.
std::vector<std::size_t> character_bytes(std::string_view text) {
  std::vector<std::size_t> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_continuation(text[i])) bytes.push_back(i);
  }
  bytes.push_back(text.size());
  return bytes;
}

// Merges the entities of a text's windows. If two entities overlap, keeps the longer one. If both have the same length,
// keeps the entity with the higher score.
std::vector<Entity> join_windows(std::vector<Entity> entities) {
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

// A request for the entities of texts. A text is complete when all its windows have been processed.
class TagRequest final : public TextRequest {
 public:
  using Result = std::vector<Entity>;
  // Throws the exceptions of TextRequest, and ConfigError if the model does not classify tokens or an option is out of
  // range.
  TagRequest(const Classifier& classifier, TagOptions options, Handlers<Result> handlers)
      : TextRequest(classifier.model(), settings_of(classifier.model(), options), std::move(handlers.on_failure),
                    std::move(handlers.on_start)),
        labels_(classifier.labels()),
        options_(std::move(options)),
        handlers_(std::move(handlers)) {
    check_range("stride", options_.stride, 0, std::numeric_limits<int>::max());
    if (options_.stride > 0 && options_.aggregation == Aggregation::none) {
      throw ConfigError("stride needs an aggregation: simple, first, average or max");
    }
  }

  // Returns one job per window of each text. Throws the exceptions of encode_windows().
  std::vector<DecodeJob> jobs(std::span<const std::string> texts) {
    std::vector<DecodeJob> jobs;
    for (const std::string& text : texts) {
      texts_.push_back(
          {.text = text, .bytes = character_bytes(text), .windows = encode_windows(text, texts_.size() + 1)});
      Text& added = texts_.back();
      added.left = added.windows.size();
      added.found.resize(added.left);
      for (std::size_t window = 0; window < added.windows.size(); ++window) {
        DecodeJob& job = jobs.emplace_back(DecodeJob{.index = texts_.size() - 1, .part = window});
        job.prompt.source = added.windows[window].ids;
        job.prompt.source_tokens = job.prompt.source.size();
      }
    }
    return jobs;
  }

  void on_rows(const DecodeJob& job, const Tensor& rows) override {
    const auto pass = [&](std::size_t text, std::optional<Result> entities) {
      if (entities) handlers_.on_result(text, *std::move(entities));
    };
    complete(job, pass, [&]() -> std::optional<Result> {
      Text& text = texts_[job.index];
      auto found = entities(text, text.windows[job.part], rows);
      const MutexLock lock(mutex_);
      text.found[job.part] = std::move(found);
      if (--text.left > 0) return std::nullopt;
      Result all;
      for (auto& window : text.found) std::ranges::move(window, std::back_inserter(all));
      return text.found.size() > 1 ? join_windows(std::move(all)) : std::move(all);
    });
  }
  // Reports only the first failure of a text.
  void on_failure(const DecodeJob& job, const std::exception_ptr& failure) override {
    {
      const MutexLock lock(mutex_);
      if (std::exchange(texts_[job.index].has_failed, true)) return;
    }
    RequestState::on_failure(job, failure);
  }

 private:
  struct Text {
    std::string text;
    std::vector<std::size_t> bytes;  // result of character_bytes(text)
    std::vector<Encoding> windows;
    std::vector<Result> found = {};  // entities of each window
    std::size_t left = 0;            // number of windows without a result
    bool has_failed = false;
  };

  static Settings settings_of(const Model& model, const TagOptions& options) {
    expect_head(model, HeadKind::tokens);
    return {.compute = read_logits,
            .max_length = options.max_length,
            .long_texts = options.long_texts,
            .batch_size = options.batch_size};
  }
  std::vector<Encoding> encode_windows(const std::string& text, std::size_t number) const;
  Result entities(const Text& text, const Encoding& window, const Tensor& logits) const;

  std::shared_ptr<const ClassifierLabels> labels_;
  TagOptions options_;
  Handlers<Result> handlers_;
  std::vector<Text> texts_;
  Mutex mutex_;  // guards `found`, `left` and `has_failed` of texts_
};

// Splits a text's tokens into windows that the model can read, with special tokens around each. Adjacent windows
// overlap by TagOptions::stride tokens. Without a stride there is one window. Throws InputError, with the text's
// `number`, if the model cannot read the text or the stride is larger than half a window.
std::vector<Encoding> TagRequest::encode_windows(const std::string& text, std::size_t number) const {
  const std::size_t limit = max_length(), stride = static_cast<std::size_t>(options_.stride);
  EncodeOptions options = encode_options();
  if (stride > 0) options.max_length = 0;
  const Encoding whole = encoded(number, [&] { return tokenizer().encode_with_ranges(text, options); });
  if (stride == 0 || limit == 0) {
    check(whole.ids, number);
    return {whole};
  }
  // Compute how many of the text's own tokens fit into a window.
  const std::size_t special = whole.special_before + whole.special_after, count = whole.ids.size() - special;
  const std::size_t room = limit - std::min(limit, special);
  if (2 * stride > room) {
    throw InputError(fmt::format("stride {}, expected at most {} (half a window)", stride, room / 2));
  }
  // Returns the items [begin, end) of the text's tokens, with the special tokens' items on both sides.
  const auto window_of = [&](const auto& all, std::size_t begin, std::size_t end) {
    const auto text_begin = all.begin() + static_cast<std::ptrdiff_t>(whole.special_before);
    auto part = std::vector(all.begin(), text_begin);
    part.insert(part.end(), text_begin + static_cast<std::ptrdiff_t>(begin),
                text_begin + static_cast<std::ptrdiff_t>(end));
    part.insert(part.end(), all.end() - static_cast<std::ptrdiff_t>(whole.special_after), all.end());
    return part;
  };
  std::vector<Encoding> windows;
  for (std::size_t begin = 0; begin == 0 || begin + stride < count; begin += room - stride) {
    const std::size_t end = std::min(begin + room, count);
    windows.push_back({.ids = window_of(whole.ids, begin, end),
                       .ranges = window_of(whole.ranges, begin, end),
                       .special_before = whole.special_before,
                       .special_after = whole.special_after});
    check(windows.back().ids, number);
  }
  return windows;
}

// Returns the entities of one window of a text. `logits`: [tokens of the window, labels].
std::vector<Entity> TagRequest::entities(const Text& text, const Encoding& window, const Tensor& logits) const {
  const std::vector<std::size_t>& bytes = text.bytes;
  const auto text_of = [&](const TextRange& range) {
    return text.text.substr(bytes[range.begin], bytes[range.end] - bytes[range.begin]);
  };
  // Collect the tokens with their scores.
  std::vector<Part> parts;
  for (std::size_t i = window.special_before; i + window.special_after < window.ids.size(); ++i) {
    const float* row = logits.row(static_cast<Dim>(i));
    Part part{.scores = {row, row + logits.width()},
              .word = std::string(tokenizer().piece(window.ids[i], TextSide::source)),
              .token = i,
              .range = window.ranges[i]};
    to_scores(ScoreFunction::softmax, part.scores);
    const auto [begin, end] = part.range;
    // As in transformers: a subword with a prefix such as "##" continues a word. If the tokenizer has no such prefix, a
    // subword that does not follow a space continues a word.
    part.continues_word =
        tokenizer().marks_continuing_pieces()
            ? character_bytes(part.word).size() - 1 != end - begin
            : begin > 0 && text_of({begin - 1, std::min(begin + 1, bytes.size() - 1)}).find(' ') == std::string::npos;
    if (window.ids[i] == tokenizer().unknown_token()) {
      part.word = text_of(part.range);
      part.continues_word = false;
    }
    parts.push_back(std::move(part));
  }
  // Aggregate the tokens, and drop the ignored labels.
  if (options_.aggregation != Aggregation::none && options_.aggregation != Aggregation::simple) {
    parts = join_words(parts, options_.aggregation, tokenizer());
  }
  const std::vector<std::string>& labels = labels_->names();
  std::vector<Entity> entities;
  if (options_.aggregation != Aggregation::none) {
    entities = group(parts, labels, tokenizer());
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

}  // namespace

std::vector<std::vector<Entity>> Classifier::tag(std::span<const std::string> texts, const TagOptions& options) const {
  std::vector<std::vector<Entity>> entities(texts.size());
  read_texts<TagRequest>(*this, texts, options,
                         [&](std::size_t text, std::vector<Entity> found) { entities[text] = std::move(found); });
  return entities;
}

Request Classifier::submit(RequestQueue& queue, std::span<const std::string> texts, const TagOptions& options,
                           Handlers<std::vector<Entity>> handlers, std::uint64_t client) const {
  return submit_texts(queue, std::make_shared<TagRequest>(*this, options, std::move(handlers)), texts, client);
}

}  // namespace encdec
