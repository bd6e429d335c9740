#pragma once

#include "encdec/models/generation/logits_processor.h"

namespace encdec {

// Bans tokens that would repeat `size` tokens in a row that stand somewhere already (Paulus et al. 2018, section 2.5).
class NoRepeatNgram final : public LogitsProcessor {
 public:
  enum class Where : std::uint8_t {
    history,  // prompt included
    input,    // what the encoder read, or the prompt where there is no encoder
  };
  NoRepeatNgram(int size, Where where) : size_(static_cast<std::size_t>(size)), where_(where) {}
  void process(const TokenHistory& history, std::span<float> scores) const override;

 private:
  std::size_t size_;  // at least 1
  Where where_;
};

}  // namespace encdec
