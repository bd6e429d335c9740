#pragma once

#include <encdec/models/model.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::cli {

// The attention of one kind, with names for its queries, keys, layers and heads. It has a map [queries, keys] for each
// head of each layer; index of a map := layer * heads + head. There is at least one query and one key.
struct LabelledAttention {
  AttentionMap map;
  std::vector<std::string> queries;  // names of rows: tokens as the vocabulary spells them, or ids without a tokenizer
  std::vector<std::string> keys;     // names of columns, likewise
  std::vector<std::string> layers;   // "0", "1", ... or "mean"; {""} if unknown
  std::vector<std::string> heads;    // likewise

  // Throws InputError unless every weight is from 0 to 1. Weights of a damaged model may be NaN.
  void check() const;

  // Returns the number of maps.
  std::size_t maps() const { return layers.size() * heads.size(); }
  // Returns the name of a map: "layer 3, head 5", "mean of layers and heads"; empty if unknown.
  std::string name_of(std::size_t index) const;
  // Titles of the two axes: "target tokens written" for rows, "source tokens read" for columns.
  std::string_view query_title() const;
  std::string_view key_title() const;
  // Returns the weights of a map, [queries, keys].
  std::span<const float> weights_of(std::size_t index) const;
  float largest_weight() const;
};

// Returns the token as the vocabulary spells it; its id if the vocabulary does not have it or there is no tokenizer.
std::string token_name(const Model& model, std::int32_t id, TextSide side);
std::vector<std::string> token_names(const Model& model, std::span<const std::int32_t> ids, TextSide side);

// Returns the attention with the names of its tokens. A decoder row has the name of the token that it produced, "?" if
// that token is unknown.
std::vector<LabelledAttention> label(const Model& model, const AttentionMaps& attention,
                                     const AttentionSelection& selection);
// Returns the attention of a generated hypothesis, with one row for each of its tokens.
// REQUIRES: `selection` has one kind, and the hypothesis at least one token.
LabelledAttention label_generated(const Model& model, const Hypothesis& hypothesis,
                                  const AttentionSelection& selection);

}  // namespace encdec::cli
