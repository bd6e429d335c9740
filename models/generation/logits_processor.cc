#include "encdec/models/generation/logits_processor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace encdec {
namespace {

using TokenSpan = std::span<const std::int32_t>;

// The score of a token; null for those of another vocabulary: a source's may be larger, and Marian's start token of
// zeros stands after the last one.
float* score_of(std::int32_t token, Scores scores) {
  const auto index = static_cast<std::size_t>(token);
  return index < scores.size() ? &scores[index] : nullptr;
}

void set_scores(TokenSpan tokens, float value, Scores scores) {
  for (const std::int32_t token : tokens) {
    if (float* score = score_of(token, scores)) *score = value;
  }
}

void ban(TokenSpan tokens, Scores scores) {
  set_scores(tokens, kBanned, scores);
}

// Bans all but `tokens`, whose scores become 0.
void force(TokenSpan tokens, Scores scores) {
  std::ranges::fill(scores, kBanned);
  set_scores(tokens, 0.0f, scores);
}

void sort_and_unite(TokenIds& tokens) {
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
}

// Makes tokens of the history, prompt included, less likely where `penalty` is above 1 (Keskar et al. 2019, section
// 4.1): score / penalty, or score * penalty where the score is negative. Once, however often a token stands there.
class RepetitionPenalty : public LogitsProcessor {
 public:
  explicit RepetitionPenalty(float penalty) : penalty_(penalty) {}
  void process(const TokenHistory& history, Scores scores, RuleMemory& memory) const override {
    const TokenSpan tokens = punished(history);
    memory.tokens.clear();  // one by one, so that the room for a history that grows doubles
    for (const std::int32_t token : tokens) memory.tokens.push_back(token);
    sort_and_unite(memory.tokens);
    for (const std::int32_t token : memory.tokens) {
      if (float* score = score_of(token, scores)) *score = *score < 0 ? *score * penalty_ : *score / penalty_;
    }
  }
  bool changes_scores(const TokenHistory& /*history*/) const override { return true; }

 private:
  virtual TokenSpan punished(const TokenHistory& history) const { return history.tokens; }
  float penalty_;
};

// Makes tokens of the input more likely where `penalty` is above 1: the inverse of RepetitionPenalty.
class EncoderRepetitionPenalty final : public RepetitionPenalty {
 public:
  explicit EncoderRepetitionPenalty(float penalty) : RepetitionPenalty(static_cast<float>(1.0 / double{penalty})) {}

 private:
  TokenSpan punished(const TokenHistory& history) const override { return history.input(); }
};

// Bans tokens that would repeat `size` tokens in a row that stand already in the history, prompt included, or in the
// input (Paulus et al. 2018, section 2.5).
class NoRepeatNgram final : public LogitsProcessor {
 public:
  enum class Where : std::uint8_t { history, input };
  // `size` is at least 1.
  NoRepeatNgram(int size, Where where) : size_(static_cast<std::size_t>(size)), where_(where) {}
  void process(const TokenHistory& history, Scores scores, RuleMemory& /*memory*/) const override {
    if (history.tokens.size() + 1 < size_) return;
    const TokenSpan begun = history.tokens.last(size_ - 1);
    const TokenSpan seen = where_ == Where::history ? history.tokens : history.input();
    for (std::size_t first = 0; first + size_ <= seen.size(); ++first) {
      const TokenSpan ngram = seen.subspan(first, size_);
      if (std::ranges::equal(ngram.first(size_ - 1), begun)) ban(ngram.last(1), scores);
    }
  }

 private:
  std::size_t size_;
  Where where_;
};

// Bans the last token of each word, a sequence of tokens, where the tokens before it are the end of the history. Words
// that are an end token alone do not count, nor do words without tokens.
class BadWords final : public LogitsProcessor {
 public:
  BadWords(std::vector<TokenIds> words, TokenSpan eos_tokens) : words_(std::move(words)) {
    std::erase_if(words_, [eos_tokens](const TokenIds& word) {
      return word.empty() || (word.size() == 1 && std::ranges::find(eos_tokens, word[0]) != eos_tokens.end());
    });
  }
  void process(const TokenHistory& history, Scores scores, RuleMemory& /*memory*/) const override {
    for (const TokenIds& word : words_) {
      const TokenSpan beginning = TokenSpan(word).first(word.size() - 1);
      if (history.tokens.size() < beginning.size()) continue;
      if (std::ranges::equal(beginning, history.tokens.last(beginning.size()))) ban(TokenSpan(word).last(1), scores);
    }
  }

 private:
  std::vector<TokenIds> words_;
};

// Bans the end tokens while the history is shorter than `length`, prompt included or not.
class LeastLength final : public LogitsProcessor {
 public:
  enum class OfPrompt : std::uint8_t { counts, does_not_count };
  LeastLength(int length, OfPrompt prompt, TokenIds eos_tokens)
      : length_(static_cast<std::size_t>(length)), prompt_(prompt), eos_tokens_(std::move(eos_tokens)) {}
  void process(const TokenHistory& history, Scores scores, RuleMemory& /*memory*/) const override {
    const std::size_t length = prompt_ == OfPrompt::counts ? history.tokens.size() : history.generated();
    if (length < length_) ban(eos_tokens_, scores);
  }

 private:
  std::size_t length_;
  OfPrompt prompt_;
  TokenIds eos_tokens_;
};

// Leaves only `token`, with score 0, after a history of one token: after a start token without a prefix.
class ForcedBos final : public LogitsProcessor {
 public:
  explicit ForcedBos(std::int32_t token) : token_(token) {}
  void process(const TokenHistory& history, Scores scores, RuleMemory& /*memory*/) const override {
    if (changes_scores(history)) force(TokenSpan(&token_, 1), scores);
  }
  bool changes_scores(const TokenHistory& history) const override { return history.tokens.size() == 1; }

 private:
  std::int32_t token_;
};

// Leaves only `tokens`, all with score 0, where the limit has room for just one more token.
class ForcedEos final : public LogitsProcessor {
 public:
  explicit ForcedEos(TokenIds tokens) : tokens_(std::move(tokens)) {}
  void process(const TokenHistory& history, Scores scores, RuleMemory& /*memory*/) const override {
    if (changes_scores(history)) force(tokens_, scores);
  }
  bool changes_scores(const TokenHistory& history) const override {
    return history.generated() + 1 == history.new_token_limit;
  }

 private:
  TokenIds tokens_;
};

// Makes the end tokens likelier, the longer the result: score + |score| * (factor^(n - start) - 1) after n > start
// generated tokens. Banned ones stay banned, and no score becomes infinite.
class ExponentialDecayLengthPenalty final : public LogitsProcessor {
 public:
  ExponentialDecayLengthPenalty(ExponentialDecay decay, TokenIds eos_tokens)
      : start_(static_cast<std::size_t>(decay.start)), factor_(decay.factor), eos_tokens_(std::move(eos_tokens)) {
    sort_and_unite(eos_tokens_);
  }
  void process(const TokenHistory& history, Scores scores, RuleMemory& /*memory*/) const override {
    if (!changes_scores(history)) return;
    constexpr float kMax = std::numeric_limits<float>::max();
    const double growth = std::pow(factor_, static_cast<double>(history.generated() - start_)) - 1.0;
    const auto share = static_cast<float>(std::min(growth, double{kMax}));
    for (const std::int32_t token : eos_tokens_) {
      float* score = score_of(token, scores);
      if (score == nullptr || !std::isfinite(*score)) continue;
      *score = std::min(*score + std::min(std::fabs(*score) * share, kMax), kMax);
    }
  }
  bool changes_scores(const TokenHistory& history) const override { return history.generated() > start_; }

 private:
  std::size_t start_;
  double factor_;
  TokenIds eos_tokens_;
};

// Bans `tokens`, always.
class SuppressTokens final : public LogitsProcessor {
 public:
  explicit SuppressTokens(TokenIds tokens) : tokens_(std::move(tokens)) {}
  void process(const TokenHistory& /*history*/, Scores scores, RuleMemory& /*memory*/) const override {
    ban(tokens_, scores);
  }

 private:
  TokenIds tokens_;
};

// Bans `tokens` as the first token that is generated; as the second where ForcedBos chooses the first.
class BeginSuppressTokens final : public LogitsProcessor {
 public:
  enum class FirstToken : std::uint8_t { free, forced };
  BeginSuppressTokens(TokenIds tokens, FirstToken first) : tokens_(std::move(tokens)), first_(first) {}
  void process(const TokenHistory& history, Scores scores, RuleMemory& /*memory*/) const override {
    const bool first_is_forced = first_ == FirstToken::forced && history.prompt_length == 1;
    if (history.generated() == (first_is_forced ? 1u : 0u)) ban(tokens_, scores);
  }

 private:
  TokenIds tokens_;
  FirstToken first_;
};

}  // namespace

LogitsProcessors make_logits_processors(const GenerateOptions& settings) {
  LogitsProcessors rules;
  const auto add = [&rules](auto rule) { rules.push_back(std::make_unique<const decltype(rule)>(std::move(rule))); };
  if (*settings.encoder_repetition_penalty != 1.0f) add(EncoderRepetitionPenalty(*settings.encoder_repetition_penalty));
  if (*settings.repetition_penalty != 1.0f) add(RepetitionPenalty(*settings.repetition_penalty));
  if (*settings.no_repeat_ngram_size > 0)
    add(NoRepeatNgram(*settings.no_repeat_ngram_size, NoRepeatNgram::Where::history));
  if (*settings.encoder_no_repeat_ngram_size > 0) {
    add(NoRepeatNgram(*settings.encoder_no_repeat_ngram_size, NoRepeatNgram::Where::input));
  }
  if (!settings.bad_words->empty()) add(BadWords(*settings.bad_words, *settings.eos_tokens));
  const int least = settings.min_new_tokens.value_or(*settings.min_length);
  if (!settings.eos_tokens->empty() && least > 0) {
    using OfPrompt = LeastLength::OfPrompt;
    add(LeastLength(least, settings.min_new_tokens ? OfPrompt::does_not_count : OfPrompt::counts,
                    *settings.eos_tokens));
  }
  if (settings.forced_bos_token) add(ForcedBos(*settings.forced_bos_token));
  if (!settings.forced_eos_tokens->empty()) add(ForcedEos(*settings.forced_eos_tokens));
  if (settings.exponential_decay_length_penalty && !settings.eos_tokens->empty()) {
    add(ExponentialDecayLengthPenalty(*settings.exponential_decay_length_penalty, *settings.eos_tokens));
  }
  if (!settings.suppress_tokens->empty()) add(SuppressTokens(*settings.suppress_tokens));
  if (!settings.begin_suppress_tokens->empty()) {
    using FirstToken = BeginSuppressTokens::FirstToken;
    add(BeginSuppressTokens(*settings.begin_suppress_tokens,
                            settings.forced_bos_token ? FirstToken::forced : FirstToken::free));
  }
  return rules;
}

}  // namespace encdec
