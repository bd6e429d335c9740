#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/labelled_attention.h"
#include "attention/numbers.h"

namespace encdec::cli {

// An example of a page: the attention of one source and target.
struct AttentionExample {
  std::string title;  // for instance source and target; may have any bytes
  std::vector<LabelledAttention> attentions;
  Alignment alignment;  // marked in cross-attention; may be empty
};

// A writer of one HTML page, which needs no other files and no network. A reader of the page chooses an example, a kind
// of attention, a layer and a head, and sees the weight of each pair of tokens, in the picture that draw_svg_frame()
// draws. Keeps no example in memory. Weights are
// stored as multiples of 1/65535. Order of calls: add* end
class AttentionPage {
 public:
  // Maximum weights of one example. A string of a browser has at most 2^29 characters, and a weight takes 8/3 of them.
  static constexpr std::int64_t kMaxWeights = std::int64_t{1} << 27;

  explicit AttentionPage(TextSink write);

  // Writes an example. Throws InputError, before anything is written, if the example has no attention, a weight that is
  // not from 0 to 1, or more than kMaxWeights weights.
  void add(const AttentionExample& example);
  void end();

 private:
  TextSink write_;
};

}  // namespace encdec::cli
