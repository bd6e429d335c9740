#include "encdec/models/generation/logits_processor.h"

#include <algorithm>
#include <limits>

namespace encdec {
namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

void ban(std::span<const std::int32_t> tokens, std::span<float> logits) {
  for (const std::int32_t token : tokens) logits[static_cast<std::size_t>(token)] = kBanned;
}

}  // namespace

void RepetitionPenalty::process(const TokenHistory& history, std::span<float> logits) const {
  std::vector<std::int32_t> tokens(history.tokens.begin(), history.tokens.end());
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (const std::int32_t token : tokens) {
    float& logit = logits[static_cast<std::size_t>(token)];
    logit = logit < 0 ? logit * penalty_ : logit / penalty_;
  }
}

void NoRepeatNgram::process(const TokenHistory& history, std::span<float> logits) const {
  if (history.tokens.size() + 1 < size_) return;
  const auto begun = history.tokens.last(size_ - 1);
  const auto seen = where_ == Where::history ? history.tokens : history.source;
  for (std::size_t first = 0; first + size_ <= seen.size(); ++first) {
    const auto ngram = seen.subspan(first, size_);
    // A source's vocabulary may be larger than the target's.
    if (static_cast<std::size_t>(ngram.back()) >= logits.size()) continue;
    if (std::ranges::equal(ngram.first(size_ - 1), begun)) ban(ngram.last(1), logits);
  }
}

void BadWords::process(const TokenHistory& history, std::span<float> logits) const {
  for (const auto& word : words_) {
    const std::size_t prefix = word.size() - 1;
    if (history.tokens.size() < prefix) continue;
    if (std::ranges::equal(std::span(word).first(prefix), history.tokens.last(prefix))) {
      ban(std::span(word).last(1), logits);
    }
  }
}

void MinLength::process(const TokenHistory& history, std::span<float> logits) const {
  if (static_cast<int>(history.tokens.size()) < length_) ban(eos_tokens_, logits);
}

void MinNewTokens::process(const TokenHistory& history, std::span<float> logits) const {
  if (static_cast<int>(history.tokens.size() - history.prompt_length) < count_) ban(eos_tokens_, logits);
}

LogitsProcessors make_logits_processors(const GenerationConfig& config) {
  using Where = NoRepeatNgram::Where;
  LogitsProcessors processors;
  if (config.repetition_penalty != 1.0f) {
    processors.push_back(std::make_unique<RepetitionPenalty>(config.repetition_penalty));
  }
  if (config.no_repeat_ngram_size > 0) {
    processors.push_back(std::make_unique<NoRepeatNgram>(config.no_repeat_ngram_size, Where::history));
  }
  if (config.encoder_no_repeat_ngram_size > 0) {
    processors.push_back(std::make_unique<NoRepeatNgram>(config.encoder_no_repeat_ngram_size, Where::source));
  }
  if (!config.bad_words.empty()) processors.push_back(std::make_unique<BadWords>(config.bad_words));
  if (config.eos_tokens.empty()) return processors;
  if (config.min_new_tokens.value_or(0) > 0) {
    processors.push_back(std::make_unique<MinNewTokens>(*config.min_new_tokens, config.eos_tokens));
  } else if (!config.min_new_tokens && config.min_length > 1) {
    processors.push_back(std::make_unique<MinLength>(config.min_length, config.eos_tokens));
  }
  return processors;
}

}  // namespace encdec
