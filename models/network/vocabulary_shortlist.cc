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

// Rows of a stored tensor [V, ...], as float32.
Tensor rows_of(const Tensor& stored, const std::vector<std::int32_t>& rows) {
  const auto width = static_cast<Dim>(stored.elements() / stored.shape()[0]);
  const auto count = static_cast<Dim>(rows.size());
  Tensor gathered = Tensor::uninitialized(stored.shape().rank() == 1 ? Shape{count} : Shape{count, width});
  float* next = gathered.data<float>();
  for (const std::int32_t row : rows) {
    copy_as_float(stored, row * width, width, next);
    next += width;
  }
  return gathered;
}

Executor build(const Transformer& model, const std::vector<std::int32_t>& tokens) {
  TransformerConfig config = model.config;
  const WeightScope stored = model.weights / "output_projection";
  const Dim vocabulary = config.decoder.vocabulary;
  auto store = std::make_shared<WeightStore>("shortlist");
  store->add("output_projection.weight", rows_of(stored.tensor("weight", {vocabulary, config.model_dim}), tokens));
  const bool has_bias =
      config.output_bias == Bias::required || (config.output_bias == Bias::optional && stored.has("bias"));
  if (has_bias) store->add("output_projection.bias", rows_of(stored.tensor("bias", {vocabulary}), tokens));
  stored.release("weight");
  config.decoder.vocabulary = static_cast<Dim>(tokens.size());
  PackOptions pack = model.weights.pack();
  pack.packed = nullptr;  // it knows the checkpoint's matrices
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
