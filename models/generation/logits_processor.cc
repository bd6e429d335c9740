#include "encdec/models/generation/logits_processor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace encdec {
namespace {

using TokenSpan = std::span<const std::int32_t>;

// Returns a pointer to a token's score, or null if the token is outside the decoder's vocabulary, such as a source
// token from a larger vocabulary, or Marian's start token, whose id equals the vocabulary's size.
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

// Bans all tokens except `tokens`, whose scores become 0.
void force(TokenSpan tokens, Scores scores) {
  std::ranges::fill(scores, kBanned);
  set_scores(tokens, 0.0f, scores);
}

void sort_and_unite(TokenIds& tokens) {
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
}

bool always(const TokenHistory& /*history*/) {
  return true;
}

// A function that selects the tokens whose repetition a processor detects.
using SeenBy = TokenSpan (*)(const TokenHistory& history);
TokenSpan all_tokens(const TokenHistory& history) {
  return history.tokens;
}
TokenSpan input_tokens(const TokenHistory& history) {
  return history.input();
}

// Makes the tokens that `seen` selects less likely if `penalty` is above 1 (Keskar et al. 2019, section 4.1):
// divides positive scores by the penalty and multiplies negative scores by the penalty, once per distinct token.
LogitsProcessor repetition_penalty(float penalty, SeenBy seen) {
  const auto process = [=](const TokenHistory& history, Scores scores, ProcessorScratch& scratch) {
    scratch.tokens.clear();  // push_back(), unlike assign(), doubles the capacity as the history grows
    for (const std::int32_t token : seen(history)) scratch.tokens.push_back(token);
    sort_and_unite(scratch.tokens);
    for (const std::int32_t token : scratch.tokens) {
      if (float* score = score_of(token, scores)) *score = *score < 0 ? *score * penalty : *score / penalty;
    }
  };
  return {process, always};
}

// Bans each token that would complete an n-gram which already occurs among the tokens that `seen_by` selects (Paulus et
// al. 2018, section 2.5). `size`: length of the n-grams. REQUIRES: size >= 1.
LogitsProcessor no_repeat_ngram(std::size_t size, SeenBy seen_by) {
  return {[=](const TokenHistory& history, Scores scores, ProcessorScratch& /*scratch*/) {
    if (history.tokens.size() + 1 < size) return;
    // `begun` contains the last size - 1 tokens. The next token would complete them to an n-gram.
    const TokenSpan begun = history.tokens.last(size - 1), seen = seen_by(history);
    for (std::size_t first = 0; first + size <= seen.size(); ++first) {
      const TokenSpan ngram = seen.subspan(first, size);
      if (std::ranges::equal(ngram.first(size - 1), begun)) ban(ngram.last(1), scores);
    }
  }};
}

// Bans the last token of each word (a sequence of tokens) if the history ends with the word's other tokens. Ignores
// empty words, and words that consist of one end token.
LogitsProcessor bad_words(std::vector<TokenIds> words, TokenSpan eos_tokens) {
  std::erase_if(words, [eos_tokens](const TokenIds& word) {
    return word.empty() || (word.size() == 1 && std::ranges::find(eos_tokens, word[0]) != eos_tokens.end());
  });
  return {[words = std::move(words)](const TokenHistory& history, Scores scores, ProcessorScratch& /*scratch*/) {
    for (const TokenIds& word : words) {
      const TokenSpan beginning = TokenSpan(word).first(word.size() - 1);
      if (history.tokens.size() < beginning.size()) continue;
      if (std::ranges::equal(beginning, history.tokens.last(beginning.size()))) ban(TokenSpan(word).last(1), scores);
    }
  }};
}

// Bans end tokens until there are `length` tokens. The tokens of the prompt count if `prompt_counts` is true.
LogitsProcessor least_length(std::size_t length, bool prompt_counts, const TokenIds& eos_tokens) {
  return {[=](const TokenHistory& history, Scores scores, ProcessorScratch& /*scratch*/) {
    if ((prompt_counts ? history.tokens.size() : history.generated()) < length) ban(eos_tokens, scores);
  }};
}

// Bans all tokens except `tokens` at the steps for which `is_time` returns true.
LogitsProcessor force_at(bool (*is_time)(const TokenHistory& history), const TokenIds& tokens) {
  const auto process = [=](const TokenHistory& history, Scores scores, ProcessorScratch& /*scratch*/) {
    if (is_time(history)) force(tokens, scores);
  };
  return {process, is_time};
}
// Returns whether the history consists of the start token alone.
bool is_after_start(const TokenHistory& history) {
  return history.tokens.size() == 1;
}
// Returns whether the next token is the last one within the limit.
bool is_last_step(const TokenHistory& history) {
  return history.generated() + 1 == history.new_token_limit;
}

// Makes the end tokens likelier as the result grows: after n > start generated tokens, the score becomes score +
// |score| * (factor^(n - start) - 1). Banned tokens stay banned, and scores stay finite.
LogitsProcessor exponential_decay(const ExponentialDecay& decay, TokenIds eos_tokens) {
  sort_and_unite(eos_tokens);
  const auto changes = [start = static_cast<std::size_t>(decay.start)](const TokenHistory& history) {
    return history.generated() > start;
  };
  const auto process = [=](const TokenHistory& history, Scores scores, ProcessorScratch& /*scratch*/) {
    if (!changes(history)) return;
    // Compute in double and clamp, since factor^beyond may overflow a float.
    constexpr float kMax = std::numeric_limits<float>::max();
    const auto beyond = static_cast<double>(history.generated() - static_cast<std::size_t>(decay.start));
    const double growth = std::pow(double{decay.factor}, beyond) - 1.0;
    const auto share = static_cast<float>(std::min(growth, double{kMax}));
    for (const std::int32_t token : eos_tokens) {
      float* score = score_of(token, scores);
      if (score == nullptr || !std::isfinite(*score)) continue;
      *score = std::min(*score + std::min(std::fabs(*score) * share, kMax), kMax);
    }
  };
  return {process, changes};
}

// Bans `tokens` at every step.
LogitsProcessor suppress(const TokenIds& tokens) {
  return {[=](const TokenHistory& /*history*/, Scores scores, ProcessorScratch& /*scratch*/) { ban(tokens, scores); }};
}

// Bans `tokens` as the first generated token, or as the second generated token if the first is forced.
LogitsProcessor begin_suppress(const TokenIds& tokens, bool first_is_forced) {
  return {[=](const TokenHistory& history, Scores scores, ProcessorScratch& /*scratch*/) {
    if (history.generated() == (first_is_forced && history.prompt_length == 1 ? 1u : 0u)) ban(tokens, scores);
  }};
}

}  // namespace

LogitsProcessors make_logits_processors(const GenerateOptions& settings) {
  LogitsProcessors rules;
  const TokenIds& ends = *settings.eos_tokens;
  // Add the rules about repetition. encoder_repetition_penalty favours source tokens, so pass its reciprocal.
  if (const float penalty = *settings.encoder_repetition_penalty; penalty != 1.0f) {
    rules.push_back(repetition_penalty(static_cast<float>(1.0 / double{penalty}), input_tokens));
  }
  if (const float penalty = *settings.repetition_penalty; penalty != 1.0f) {
    rules.push_back(repetition_penalty(penalty, all_tokens));
  }
  if (const int size = *settings.no_repeat_ngram_size; size > 0) {
    rules.push_back(no_repeat_ngram(static_cast<std::size_t>(size), all_tokens));
  }
  if (const int size = *settings.encoder_no_repeat_ngram_size; size > 0) {
    rules.push_back(no_repeat_ngram(static_cast<std::size_t>(size), input_tokens));
  }
  if (!settings.bad_words->empty()) rules.push_back(bad_words(*settings.bad_words, ends));
  // Add the rules about length, and about forced and suppressed tokens.
  const int least = settings.min_new_tokens.value_or(*settings.min_length);
  if (!ends.empty() && least > 0) {
    rules.push_back(least_length(static_cast<std::size_t>(least), !settings.min_new_tokens, ends));
  }
  if (settings.forced_bos_token) rules.push_back(force_at(is_after_start, {*settings.forced_bos_token}));
  if (!settings.forced_eos_tokens->empty()) rules.push_back(force_at(is_last_step, *settings.forced_eos_tokens));
  if (const auto& decay = settings.exponential_decay_length_penalty; decay && !ends.empty()) {
    rules.push_back(exponential_decay(*decay, ends));
  }
  if (!settings.suppress_tokens->empty()) rules.push_back(suppress(*settings.suppress_tokens));
  if (!settings.begin_suppress_tokens->empty()) {
    rules.push_back(begin_suppress(*settings.begin_suppress_tokens, settings.forced_bos_token.has_value()));
  }
  return rules;
}

}  // namespace encdec
