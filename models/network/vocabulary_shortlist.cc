#include "encdec/models/network/vocabulary_shortlist.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "encdec/models/network/output_projection.h"

namespace encdec {
namespace {

std::vector<std::int32_t> ascending(std::vector<std::int32_t> tokens) {
  assert(!tokens.empty());
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

Executor build(const Transformer& model, const std::vector<std::int32_t>& tokens) {
  TransformerConfig config = model.config;
  const WeightScope stored = model.weights / "output_projection";
  const Dim vocabulary = config.decoder.vocabulary;
  auto store = std::make_shared<WeightStore>("shortlist");
  const WeightMatrix all = stored.matrix("weight", {vocabulary, config.model_dim});
  Tensor rows = Tensor::uninitialized({std::ssize(tokens), config.model_dim});
  for (std::size_t i = 0; i < tokens.size(); ++i) all.copy_rows(tokens[i], 1, rows.row(static_cast<Dim>(i)));
  store->add("output_projection.weight", rows);
  const bool has_bias =
      config.output_bias == Bias::required || (config.output_bias == Bias::optional && stored.has("bias"));
  if (has_bias) {
    const Tensor biases = stored.tensor("bias", {vocabulary});
    Tensor chosen = Tensor::uninitialized({std::ssize(tokens)});
    for (std::size_t i = 0; i < tokens.size(); ++i) chosen.data<float>()[i] = biases.data<float>()[tokens[i]];
    store->add("output_projection.bias", chosen);
  }
  config.decoder.vocabulary = static_cast<Dim>(tokens.size());
  PackOptions pack = model.weights.pack();
  pack.packed = nullptr;  // holds matrices of the checkpoint only
  pack.memory = nullptr;  // belongs to the model
  const WeightScope shortlisted(
      store, [](const std::string& name) { return std::vector<StoredName>{name}; }, pack);
  return Executor(OutputProjection(config, shortlisted).graph(config));
}

}  // namespace

VocabularyShortlist::VocabularyShortlist(const Transformer& model, std::vector<std::int32_t> tokens)
    : tokens_(ascending(std::move(tokens))), output_(build(model, tokens_)) {}

void VocabularyShortlist::spread(const Tensor& logits, Tensor& all) const {
  std::fill_n(all.data<float>(), all.elements(), -std::numeric_limits<float>::infinity());
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    const float* from = logits.row(row);
    float* to = all.row(row);
    for (std::size_t i = 0; i < tokens_.size(); ++i) to[tokens_[i]] = from[i];
  }
}

}  // namespace encdec
