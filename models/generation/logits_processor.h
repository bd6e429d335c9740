#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/models/generation/generation_config.h"

namespace encdec {

// One rule about what may come next: changes the logits of one step in place, -infinity for what must not come; it
// leaves the others' as they are. Read-only, used by many sequences at once. After transformers' LogitsProcessor.
class LogitsProcessor {
 public:
  virtual ~LogitsProcessor() = default;
  // `history` holds the decoder's tokens so far, the start token first; `logits` is [V].
  virtual void process(std::span<const std::int32_t> history, std::span<float> logits) const = 0;
};

// Bans the last token of each bad word when the tokens before it are the end of the history.
class BadWords final : public LogitsProcessor {
 public:
  explicit BadWords(std::vector<std::vector<std::int32_t>> words) : words_(std::move(words)) {}
  void process(std::span<const std::int32_t> history, std::span<float> logits) const override;

 private:
  std::vector<std::vector<std::int32_t>> words_;
};

// Bans the end tokens while the history, start token included, is shorter than `length`.
class MinLength final : public LogitsProcessor {
 public:
  MinLength(int length, std::vector<std::int32_t> eos_tokens) : length_(length), eos_tokens_(std::move(eos_tokens)) {}
  void process(std::span<const std::int32_t> history, std::span<float> logits) const override;

 private:
  int length_;
  std::vector<std::int32_t> eos_tokens_;
};

using LogitsProcessors = std::vector<std::unique_ptr<const LogitsProcessor>>;

// The rules that a configuration asks for, in transformers' order.
LogitsProcessors make_logits_processors(const GenerationConfig& config);

}  // namespace encdec
