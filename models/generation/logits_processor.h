#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/models/generation/generation_config.h"

namespace encdec {

// The decoder's tokens so far: a prompt (the start token, where there is an encoder), and what was generated.
struct TokenHistory {
  std::span<const std::int32_t> tokens;
  std::size_t prompt_length = 1;
  std::span<const std::int32_t> source = {};  // what the encoder read
};

// One rule about what may come next: changes the logits of one step in place, -infinity for what must not come; it
// leaves the others' as they are. Read-only, used by many sequences at once. After transformers' LogitsProcessor.
class LogitsProcessor {
 public:
  virtual ~LogitsProcessor() = default;
  // `logits` is [V].
  virtual void process(const TokenHistory& history, std::span<float> logits) const = 0;
  // Whether tokens that are not banned keep their logits.
  virtual bool only_bans() const { return true; }
};

// Divides the logits of tokens of the history by `penalty` where they are positive, else multiplies (Keskar et al.
// 2019).
class RepetitionPenalty final : public LogitsProcessor {
 public:
  explicit RepetitionPenalty(float penalty) : penalty_(penalty) {}
  void process(const TokenHistory& history, std::span<float> logits) const override;
  bool only_bans() const override { return false; }

 private:
  float penalty_;
};

// Bans tokens that would repeat `size` tokens in a row that stand somewhere already (Paulus et al. 2018).
class NoRepeatNgram final : public LogitsProcessor {
 public:
  enum class Where { history, source };
  NoRepeatNgram(int size, Where where) : size_(static_cast<std::size_t>(size)), where_(where) {}
  void process(const TokenHistory& history, std::span<float> logits) const override;

 private:
  std::size_t size_;
  Where where_;
};

// Bans the last token of each bad word when the tokens before it are the end of the history.
class BadWords final : public LogitsProcessor {
 public:
  explicit BadWords(std::vector<std::vector<std::int32_t>> words) : words_(std::move(words)) {}
  void process(const TokenHistory& history, std::span<float> logits) const override;

 private:
  std::vector<std::vector<std::int32_t>> words_;
};

// Bans the end tokens while the history, prompt included, is shorter than `length`.
class MinLength final : public LogitsProcessor {
 public:
  MinLength(int length, std::vector<std::int32_t> eos_tokens) : length_(length), eos_tokens_(std::move(eos_tokens)) {}
  void process(const TokenHistory& history, std::span<float> logits) const override;

 private:
  int length_;
  std::vector<std::int32_t> eos_tokens_;
};

// Bans the end tokens while fewer than `count` tokens were generated.
class MinNewTokens final : public LogitsProcessor {
 public:
  MinNewTokens(int count, std::vector<std::int32_t> eos_tokens) : count_(count), eos_tokens_(std::move(eos_tokens)) {}
  void process(const TokenHistory& history, std::span<float> logits) const override;

 private:
  int count_;
  std::vector<std::int32_t> eos_tokens_;
};

using LogitsProcessors = std::vector<std::unique_ptr<const LogitsProcessor>>;

// The rules that a configuration asks for, in transformers' order.
LogitsProcessors make_logits_processors(const GenerationConfig& config);

}  // namespace encdec
