#include "attention_example.h"

#include <algorithm>
#include <random>
#include <utility>

namespace encdec::cli {

LabelledAttention attention_of(std::vector<std::string> queries, std::vector<std::string> keys,
                               const std::vector<float>& weights) {
  LabelledAttention attention;
  const auto size = [](const auto& tokens) { return static_cast<Dim>(tokens.size()); };
  attention.map.weights = Tensor::allocate({1, 1, size(queries), size(keys)});
  std::ranges::copy(weights, attention.map.weights.data<float>());
  attention.queries = std::move(queries);
  attention.keys = std::move(keys);
  attention.layers = {"3"};
  attention.heads = {"mean"};
  return attention;
}

LabelledAttention random_attention(int layers, int heads, std::vector<std::string> queries,
                                   std::vector<std::string> keys) {
  LabelledAttention attention = attention_of(std::move(queries), std::move(keys), {});
  attention.layers.clear();
  attention.heads.clear();
  for (int layer = 1; layer <= layers; ++layer) attention.layers.push_back(std::to_string(layer));
  for (int head = 1; head <= heads; ++head) attention.heads.push_back(std::to_string(head));
  const Shape& shape = attention.map.weights.shape();
  attention.map.weights = Tensor::allocate({layers, heads, shape[2], shape[3]});
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::generate_n(attention.map.weights.data<float>(), attention.map.weights.elements(),
                  [&] { return uniform(random); });
  return attention;
}

const std::vector<std::string>& hostile_tokens() {
  static const std::vector<std::string> tokens = {"\x1b[31mred\x1b[0m",
                                                  "two\nlines\r\n\t",
                                                  std::string("nul\0l", 5),
                                                  "\xc2\x9b"
                                                  "31m",  // C1 control sequence introducer
                                                  "\xff\xfe",
                                                  "</script><script>alert(1)</script>",
                                                  "<!--<script>",
                                                  "\"quoted' &amp; \\u003c",
                                                  "\u202Eright to left\u2066",
                                                  "\u2028\u2029\u00AD",
                                                  "\u0301",
                                                  "\u200D",
                                                  "",
                                                  std::string(5000, 'x'),
                                                  "م\u0628",
                                                  "👩\u200D💻",
                                                  "▁今天"};
  return tokens;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace encdec::cli
