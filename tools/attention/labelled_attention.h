#pragma once

#include <encdec/models/model.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::cli {

// One kind of attention, with names for queries, keys, layers and heads. There is a map [queries, keys] for each head
// of each layer; index of a map := layer * heads + head. There is at least one query and one key.
struct LabelledAttention {
  AttentionMap map;
  std::vector<std::string> queries;  // row names: token_name()
  std::vector<std::string> keys;     // column names: token_name()
  std::vector<std::string> layers;   // "0", "1", ... or "mean"; {""} if unknown
  std::vector<std::string> heads;    // in the same format

  // Throws InputError unless every weight is from 0 to 1. A damaged model can have NaN weights.
  void check() const;

  std::size_t maps() const { return layers.size() * heads.size(); }
  // Returns the name of a map, such as "layer 3, head 5" or "mean of layers and heads"; empty if unknown.
  std::string name_of(std::size_t index) const;
  // Return the axis titles, such as "target tokens written" for rows and "source tokens read" for columns.
  std::string_view query_title() const;
  std::string_view key_title() const;
  // Returns the weights of a map, [queries, keys].
  std::span<const float> weights_of(std::size_t index) const;
  float largest_weight() const;
};

// Returns the token as the vocabulary spells it, or its id if the vocabulary lacks it or there is no tokenizer.
std::string token_name(const Model& model, std::int32_t id, TextSide side);
std::vector<std::string> token_names(const Model& model, std::span<const std::int32_t> ids, TextSide side);

// Adds names to attention maps. A decoder row has the name of the token that it produced, or "?" if this is unknown.
std::vector<LabelledAttention> label(const Model& model, const AttentionMaps& attention,
                                     const AttentionSelection& selection);
// Returns the attention of a generated hypothesis, with one row per generated token.
// REQUIRES: `selection` has one kind; the hypothesis has at least one token.
LabelledAttention label_generated(const Model& model, const Hypothesis& hypothesis,
                                  const AttentionSelection& selection);

// Returns the hard alignment of a generated hypothesis in Pharaoh format, "0-0 2-1": pairs KEY-QUERY, numbered from 0.
// A query's key is the first key with the largest weight in the mean of the last layer's heads. The end token has no
// pair.
std::string hard_alignment(const Model& model, const LabelledAttention& attention, const Hypothesis& hypothesis);

// Returns the members of a JSON object:
//   "queries": [...], "keys": [...], "layers": [...], "heads": [...], "weights": [layers][heads][queries][keys]
// Numbers are the shortest that read back as the same float. Throws InputError if a weight is not from 0 to 1.
std::string json_members(const LabelledAttention& attention);

struct Color {
  std::uint8_t red, green, blue;

  friend bool operator==(const Color& a, const Color& b) = default;
};

// Number of colours of weights, from white to dark blue in steps that look equal.
inline constexpr int kColors = 65;

// Returns a weight's colour number: 0 for a weight of 0, kColors - 1 for the largest weight.
int color_number(float weight, float largest);
// REQUIRES: `number` is from 0 to kColors - 1.
Color color_of(int number);

// Formats a weight with up to three significant digits: "0.75", "0.0123".
std::string weight_text(float weight);

}  // namespace encdec::cli
