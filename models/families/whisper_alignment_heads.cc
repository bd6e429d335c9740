#include <array>
#include <map>

#include "encdec/models/families/whisper.h"

namespace encdec {
namespace {

using Sizes = std::array<Dim, 4>;                      // encoder layers, decoder layers, heads, vocabulary
using HeadsByLayer = std::map<int, std::vector<int>>;  // decoder layer -> numbers of heads

// The decoded table _ALIGNMENT_HEADS of openai/whisper (whisper/__init__.py).
const std::map<Sizes, HeadsByLayer>& known_models() {
  static const std::map<Sizes, HeadsByLayer> models = {
      // tiny.en
      {{4, 4, 6, 51864}, {{1, {0}}, {2, {0, 5}}, {3, {0, 1, 2, 3, 4}}}},
      // tiny
      {{4, 4, 6, 51865}, {{2, {2}}, {3, {0, 2, 3, 4, 5}}}},
      // base.en
      {{6, 6, 8, 51864}, {{3, {3}}, {4, {7}}, {5, {1, 5, 7}}}},
      // base
      {{6, 6, 8, 51865}, {{3, {1}}, {4, {2, 3, 7}}, {5, {1, 2, 4, 6}}}},
      // small.en
      {{12, 12, 12, 51864},
       {{6, {6}}, {7, {0, 3, 8}}, {8, {2, 5, 7}}, {9, {0, 4, 8, 10}}, {10, {0, 1, 2, 3, 6, 11}}, {11, {2, 4}}}},
      // small
      {{12, 12, 12, 51865}, {{5, {3, 9}}, {8, {0, 4, 7, 8}}, {9, {0, 7, 9}}, {10, {5}}}},
      // medium.en
      {{24, 24, 16, 51864},
       {{11, {4}},
        {14, {1, 12, 14}},
        {15, {4}},
        {16, {0, 4, 9}},
        {17, {12, 14}},
        {18, {7, 10, 15}},
        {20, {0, 3, 9, 14}},
        {21, {12}}}},
      // medium
      {{24, 24, 16, 51865}, {{13, {15}}, {15, {4, 15}}, {16, {1}}, {20, {0}}, {23, {4}}}},
      // large-v2
      {{32, 32, 20, 51865},
       {{10, {12}},
        {13, {17}},
        {16, {11, 12, 13}},
        {17, {15, 16}},
        {18, {4, 11, 19}},
        {19, {11}},
        {21, {2, 3}},
        {22, {3, 9, 12}},
        {23, {5, 7, 13}},
        {25, {5}},
        {26, {1, 12}},
        {27, {15}}}},
      // large-v3
      {{32, 32, 20, 51866},
       {{7, {0}},
        {10, {17}},
        {12, {18}},
        {13, {12}},
        {16, {1}},
        {17, {14}},
        {19, {11}},
        {21, {4}},
        {24, {1}},
        {25, {6}}}},
      // turbo
      {{32, 4, 20, 51866}, {{2, {4, 11}}, {3, {3, 6, 11, 14}}}},
  };
  return models;
}

}  // namespace

std::vector<std::pair<int, int>> whisper_alignment_heads(const TransformerConfig& config) {
  const StackConfig& decoder = config.decoder;
  const auto known =
      known_models().find({config.encoder.layers, decoder.layers, decoder.attention.heads, decoder.vocabulary});
  std::vector<std::pair<int, int>> heads;
  if (known != known_models().end()) {
    for (const auto& [layer, of_layer] : known->second) {
      for (const int head : of_layer) heads.emplace_back(layer, head);
    }
    return heads;
  }
  for (int layer = decoder.layers / 2; layer < decoder.layers; ++layer) {
    for (int head = 0; head < decoder.attention.heads; ++head) heads.emplace_back(layer, head);
  }
  return heads;
}

}  // namespace encdec
