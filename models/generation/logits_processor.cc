#include "encdec/models/generation/logits_processor.h"

#include <algorithm>
#include <limits>

namespace encdec {
namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

}  // namespace

void BadWords::process(std::span<const std::int32_t> history, std::span<float> logits) const {
  for (const auto& word : words_) {
    const std::size_t prefix = word.size() - 1;
    if (history.size() < prefix) continue;
    if (std::equal(word.begin(), word.end() - 1, history.end() - static_cast<std::ptrdiff_t>(prefix))) {
      logits[static_cast<std::size_t>(word.back())] = kBanned;
    }
  }
}

void MinLength::process(std::span<const std::int32_t> history, std::span<float> logits) const {
  if (static_cast<int>(history.size()) >= length_) return;
  for (const std::int32_t token : eos_tokens_) logits[static_cast<std::size_t>(token)] = kBanned;
}

LogitsProcessors make_logits_processors(const GenerationConfig& config) {
  LogitsProcessors processors;
  if (!config.bad_words.empty()) processors.push_back(std::make_unique<BadWords>(config.bad_words));
  const int min_length = config.min_new_tokens ? *config.min_new_tokens + 1 : config.min_length;
  if (min_length > 1 && !config.eos_tokens.empty()) {
    processors.push_back(std::make_unique<MinLength>(min_length, config.eos_tokens));
  }
  return processors;
}

}  // namespace encdec
