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

// Returns the hard alignment of a generated hypothesis in the format of Pharaoh, "0-0 2-1": pairs KEY-QUERY, numbered
// from 0. The key has the largest weight in the mean of the last layer's heads; of keys with equal weights, the first.
// The end token, which has no text, has no pair.
std::string hard_alignment(const Model& model, const LabelledAttention& attention, const Hypothesis& hypothesis);

// Returns members of a JSON object:
// "queries": [...], "keys": [...], "layers": [...], "heads": [...], "weights": [layers][heads][queries][keys].
// Numbers have the shortest digits that give the same float. Throws InputError if a weight is not from 0 to 1.
std::string json_members(const LabelledAttention& attention);

// A colour of weights in drawings.
struct Color {
  std::uint8_t red, green, blue;

  friend bool operator==(const Color& a, const Color& b) = default;
};

// Number of colours. They go from white to dark blue in steps that look equal.
inline constexpr int kColors = 65;

// Returns the number of the colour of a weight: 0 for a weight of 0, kColors - 1 for the largest weight.
int color_number(float weight, float largest);
// REQUIRES: `number` is from 0 to kColors - 1.
Color color_of(int number);

// Returns up to three significant digits: "0.75", "0.0123".
std::string weight_text(float weight);

}  // namespace encdec::cli
