#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/labelled_attention.h"
#include "attention/numbers.h"

namespace encdec::cli {

// What a page shows together.
struct AttentionExample {
  std::string title;  // such as source and target; any bytes
  std::vector<LabelledAttention> attentions;
  Alignment alignment;  // marked in cross-attention; may be empty
};

// Writes one HTML page that needs nothing else, no network either, in which a reader chooses among examples, kinds of
// attention, layers and heads, and sees the weight of each pair of tokens. Goes from the constructor over add() to
// end(); no example is kept in memory. Weights are stored as multiples of 1/65535.
class AttentionPage {
 public:
  // Weights of one example. The strings of browsers have at most 2^29 characters, of which a weight takes 8/3.
  static constexpr std::int64_t kMaxWeights = std::int64_t{1} << 27;

  explicit AttentionPage(TextSink write);

  // Throws InputError, before anything is written, where there is no attention, weights are not from 0 to 1, or there
  // are more than kMaxWeights.
  void add(const AttentionExample& example);
  void end();

 private:
  TextSink write_;
};

}  // namespace encdec::cli
