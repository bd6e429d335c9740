#include "encdec/models/families/whisper_alignment_heads.h"

#include <algorithm>

namespace encdec {
namespace {

using AlignmentHeads = std::vector<std::pair<int, int>>;

struct KnownWhisper {
  int encoder_layers;
  int decoder_layers;
  int decoder_heads;
  Dim vocabulary;
  AlignmentHeads heads;
};

const std::vector<KnownWhisper>& known_models() {
  static const std::vector<KnownWhisper> models = {
      // tiny.en
      {4, 4, 6, 51864, {{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}}},
      // tiny
      {4, 4, 6, 51865, {{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}}},
      // base.en
      {6, 6, 8, 51864, {{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}}},
      // base
      {6, 6, 8, 51865, {{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}}},
      // small.en
      {12,
       12,
       12,
       51864,
       {{6, 6},
        {7, 0},
        {7, 3},
        {7, 8},
        {8, 2},
        {8, 5},
        {8, 7},
        {9, 0},
        {9, 4},
        {9, 8},
        {9, 10},
        {10, 0},
        {10, 1},
        {10, 2},
        {10, 3},
        {10, 6},
        {10, 11},
        {11, 2},
        {11, 4}}},
      // small
      {12, 12, 12, 51865, {{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9}, {10, 5}}},
      // medium.en
      {24,
       24,
       16,
       51864,
       {{11, 4},
        {14, 1},
        {14, 12},
        {14, 14},
        {15, 4},
        {16, 0},
        {16, 4},
        {16, 9},
        {17, 12},
        {17, 14},
        {18, 7},
        {18, 10},
        {18, 15},
        {20, 0},
        {20, 3},
        {20, 9},
        {20, 14},
        {21, 12}}},
      // medium
      {24, 24, 16, 51865, {{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}}},
      // large-v2
      {32, 32, 20, 51865, {{10, 12}, {13, 17}, {16, 11}, {16, 12}, {16, 13}, {17, 15}, {17, 16}, {18, 4},
                           {18, 11}, {18, 19}, {19, 11}, {21, 2},  {21, 3},  {22, 3},  {22, 9},  {22, 12},
                           {23, 5},  {23, 7},  {23, 13}, {25, 5},  {26, 1},  {26, 12}, {27, 15}}},
      // large-v3
      {32,
       32,
       20,
       51866,
       {{7, 0}, {10, 17}, {12, 18}, {13, 12}, {16, 1}, {17, 14}, {19, 11}, {21, 4}, {24, 1}, {25, 6}}},
      // turbo
      {32, 4, 20, 51866, {{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}}},
  };
  return models;
}

}  // namespace

std::vector<std::pair<int, int>> whisper_alignment_heads(const TransformerConfig& config) {
  const auto known = std::ranges::find_if(known_models(), [&](const KnownWhisper& model) {
    return model.encoder_layers == config.encoder.layers && model.decoder_layers == config.decoder.layers &&
           model.decoder_heads == config.decoder.heads && model.vocabulary == config.decoder.vocabulary;
  });
  if (known != known_models().end()) return known->heads;
  AlignmentHeads heads;
  for (int layer = config.decoder.layers / 2; layer < config.decoder.layers; ++layer) {
    for (int head = 0; head < config.decoder.heads; ++head) heads.emplace_back(layer, head);
  }
  return heads;
}

}  // namespace encdec
