#include "encdec/models/network/vocabulary_shortlist.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace encdec {
namespace {

// Returns the tokens in ascending order, without duplicates.
std::vector<std::int32_t> ascending(std::vector<std::int32_t> tokens) {
  assert(!tokens.empty());
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace

VocabularyShortlist::VocabularyShortlist(const Transformer& model, std::vector<std::int32_t> tokens)
    : tokens_(ascending(std::move(tokens))), projection_(model.output_layer->with_outputs(tokens_)) {}

void VocabularyShortlist::spread(const Tensor& logits, Tensor& all) const {
  std::fill_n(all.data<float>(), all.elements(), -std::numeric_limits<float>::infinity());
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    const float* from = logits.row(row);
    float* to = all.row(row);
    for (std::size_t i = 0; i < tokens_.size(); ++i) to[tokens_[i]] = from[i];
  }
}

}  // namespace encdec
