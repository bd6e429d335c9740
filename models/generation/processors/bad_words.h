#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Bans the last token of each word, a sequence of tokens, where the tokens before it are the end of the history. Words
// that are an end token alone do not count, nor do words without tokens.
class BadWords final : public LogitsProcessor {
 public:
  BadWords(std::vector<std::vector<std::int32_t>> words, std::span<const std::int32_t> eos_tokens);
  void process(const TokenHistory& history, std::span<float> scores) const override;

 private:
  std::vector<std::vector<std::int32_t>> words_;
};

}  // namespace encdec
