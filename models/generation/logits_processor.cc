#include "encdec/models/generation/logits_processor.h"

#include <algorithm>

#include "encdec/models/generation/processors/bad_words.h"
#include "encdec/models/generation/processors/begin_suppress_tokens.h"
#include "encdec/models/generation/processors/encoder_repetition_penalty.h"
#include "encdec/models/generation/processors/exponential_decay_length_penalty.h"
#include "encdec/models/generation/processors/forced_bos.h"
#include "encdec/models/generation/processors/forced_eos.h"
#include "encdec/models/generation/processors/min_length.h"
#include "encdec/models/generation/processors/min_new_tokens.h"
#include "encdec/models/generation/processors/no_repeat_ngram.h"
#include "encdec/models/generation/processors/repetition_penalty.h"
#include "encdec/models/generation/processors/suppress_tokens.h"
#include "encdec/models/generation/processors/temperature.h"
#include "encdec/models/generation/processors/top_k.h"
#include "encdec/models/generation/processors/top_p.h"

namespace encdec {
namespace {

// Adds rules to a list.
class Chain {
 public:
  template <typename Rule, typename... Arguments>
  void add(Arguments&&... arguments) {
    rules_.push_back(std::make_unique<const Rule>(std::forward<Arguments>(arguments)...));
  }
  LogitsProcessors take() { return std::move(rules_); }

 private:
  LogitsProcessors rules_;
};

void add_least_length(const GenerationConfig& config, Chain& chain) {
  if (config.eos_tokens.empty()) return;
  if (config.min_new_tokens) {
    if (*config.min_new_tokens > 0) chain.add<MinNewTokens>(*config.min_new_tokens, config.eos_tokens);
  } else if (config.min_length > 1) {  // a history has one token at least
    chain.add<MinLength>(config.min_length, config.eos_tokens);
  }
}

void add_begin_suppress_tokens(const GenerationConfig& config, Chain& chain) {
  if (config.begin_suppress_tokens.empty()) return;
  using FirstToken = BeginSuppressTokens::FirstToken;
  chain.add<BeginSuppressTokens>(config.begin_suppress_tokens,
                                 config.forced_bos_token ? FirstToken::forced : FirstToken::free);
}

}  // namespace

LogitsProcessors make_logits_processors(const GenerationConfig& config) {
  using Where = NoRepeatNgram::Where;
  Chain chain;
  if (config.encoder_repetition_penalty != 1.0f) {
    chain.add<EncoderRepetitionPenalty>(config.encoder_repetition_penalty);
  }
  if (config.repetition_penalty != 1.0f) chain.add<RepetitionPenalty>(config.repetition_penalty);
  if (config.no_repeat_ngram_size > 0) chain.add<NoRepeatNgram>(config.no_repeat_ngram_size, Where::history);
  if (config.encoder_no_repeat_ngram_size > 0) {
    chain.add<NoRepeatNgram>(config.encoder_no_repeat_ngram_size, Where::input);
  }
  if (!config.bad_words.empty()) chain.add<BadWords>(config.bad_words, config.eos_tokens);
  add_least_length(config, chain);
  if (config.forced_bos_token) chain.add<ForcedBos>(*config.forced_bos_token);
  if (!config.forced_eos_tokens.empty()) chain.add<ForcedEos>(config.forced_eos_tokens);
  if (config.exponential_decay_length_penalty && !config.eos_tokens.empty()) {
    chain.add<ExponentialDecayLengthPenalty>(*config.exponential_decay_length_penalty, config.eos_tokens);
  }
  if (!config.suppress_tokens.empty()) chain.add<SuppressTokens>(config.suppress_tokens);
  add_begin_suppress_tokens(config, chain);
  return chain.take();
}

LogitsProcessors make_sampling_processors(const GenerationConfig& config) {
  // Beams must be able to go on when all end tokens are drawn.
  const std::size_t least = config.num_beams > 1 ? std::max<std::size_t>(config.eos_tokens.size(), 1) + 1 : 1;
  Chain chain;
  if (config.temperature != 1.0f) chain.add<Temperature>(config.temperature);
  if (config.top_k > 0) chain.add<TopK>(std::max(static_cast<std::size_t>(config.top_k), least));
  if (config.top_p < 1.0f) chain.add<TopP>(config.top_p, least);
  return chain.take();
}

}  // namespace encdec
