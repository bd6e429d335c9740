#pragma once

#include <encdec/models/model.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::cli {

// Where a picture made of text goes, piece by piece.
using TextSink = std::function<void(std::string_view)>;

// An attention map as pictures show it: with the tokens that its queries and keys stand for, at least one of each. Its
// maps, one for each head of each layer, are numbered layer by layer.
struct LabelledAttention {
  AttentionMap map;
  std::vector<std::string> queries;  // rows: tokens as the vocabulary spells them; ids where there is no tokenizer
  std::vector<std::string> keys;     // columns
  std::vector<std::string> layers;   // "0", "1", ... or "mean"
  std::vector<std::string> heads;

  // Throws InputError unless every weight is from 0 to 1: those of a damaged model may be no numbers.
  void check() const;

  std::size_t maps() const { return layers.size() * heads.size(); }
  // "layer 3, head 5", "mean of layers and heads"
  std::string name_of(std::size_t index) const;
  // [queries, keys]
  std::span<const float> weights_of(std::size_t index) const;
  float largest_weight() const;
};

// The kind of attention that tells most of what a model does: cross-attention where it has any.
AttentionKind main_kind(const TransformerConfig& config);

// What a token stands for, as the vocabulary spells it; its number where that has none, or there is no tokenizer.
std::string token_name(const Model& model, std::int32_t id, TextSide side);
std::vector<std::string> token_names(const Model& model, std::span<const std::int32_t> ids, TextSide side);

// Maps with their tokens. A decoder's rows are named by the tokens that they led to, "?" where that is not known.
std::vector<LabelledAttention> label(const Model& model, const AttentionMaps& attention,
                                     const AttentionSelection& selection);
// What was generated, of the one kind that is selected, with one row for each token of the hypothesis, which has some.
LabelledAttention label_generated(const Model& model, const Hypothesis& hypothesis,
                                  const AttentionSelection& selection);

}  // namespace encdec::cli
