#include "encdec/layers/transformer/masked_decoder_attention.h"

#include <gtest/gtest.h>

#include "tests/layers/attention_fixture.h"

namespace encdec {
namespace {

using reference::Mask;

std::vector<LayerCase> masked_cases() {
  std::vector<LayerCase> cases = self_attention_cases(make_attention<MaskedDecoderAttention>, Mask::causal);
  std::vector<AttentionOptions> positions(4, options_for({20, 2}));
  positions[0].rotary = {.base = 100};
  positions[1].relative_positions = {
      .buckets = 8, .max_distance = 11, .direction = RelativePositions::Direction::backward};
  for (std::size_t i : {2u, 3u}) {  // as in Gemma 2 and 3
    positions[i].heads = 4;
    positions[i].key_value_heads = i == 2 ? 2 : 1;
    positions[i].limits.before = i == 2 ? 4 : 0;
    positions[i].score_cap = i == 2 ? 0.5f : 0.0f;
    if (i == 3) positions[i].head_norm = NormOptions{.kind = NormKind::rms};
  }
  for (const AttentionOptions& options : positions) {
    cases.push_back(self_attention_case(make_attention<MaskedDecoderAttention>, options, {40, 3}, Mask::causal));
  }
  for (LayerCase& c : cases) c.in_steps = true;
  return cases;
}
INSTANTIATE_TEST_SUITE_P(MaskedDecoderAttention, LayerContract, testing::Values(&masked_cases));

}  // namespace
}  // namespace encdec
