#include "attention/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace encdec::cli {
namespace {

std::string quoted(const std::vector<std::string>& texts) {
  using Json = nlohmann::ordered_json;
  return Json(texts).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Appends nested arrays of the dimensions from `axis` to the last. `next` is the first number, and is advanced to the
// number after the arrays.
void append_numbers(const Shape& shape, int axis, const float*& next, std::string& json) {
  json += '[';
  for (Dim i = 0; i < shape[axis]; ++i) {
    if (i > 0) json += ',';
    if (axis + 1 < shape.rank()) {
      append_numbers(shape, axis + 1, next, json);
    } else {
      fmt::format_to(std::back_inserter(json), "{}", *next++);
    }
  }
  json += ']';
}

// Returns the mean of the last layer's heads, [queries, keys].
Tensor last_layer_mean(const LabelledAttention& attention) {
  const Shape& shape = attention.map.weights.shape();
  Tensor mean = Tensor::allocate({shape[2], shape[3]});
  const std::size_t heads = attention.heads.size();
  for (std::size_t map = attention.maps() - heads; map < attention.maps(); ++map) {
    float* sum = mean.data<float>();
    for (const float weight : attention.weights_of(map)) *sum++ += weight / static_cast<float>(heads);
  }
  return mean;
}

}  // namespace

std::string hard_alignment(const Model& model, const LabelledAttention& attention, const Hypothesis& hypothesis) {
  const TokenIds& ends = *model.generation_config().eos_tokens;
  auto queries = static_cast<Dim>(hypothesis.token_ids.size());
  if (queries > 0 && std::ranges::find(ends, hypothesis.token_ids.back()) != ends.end()) --queries;
  const Tensor mean = last_layer_mean(attention);
  std::string pairs;
  for (Dim query = 0; query < queries; ++query) {
    const float* weights = mean.row(query);
    const auto key = std::max_element(weights, weights + mean.width()) - weights;
    pairs += fmt::format("{}{}-{}", query == 0 ? "" : " ", key, query);
  }
  return pairs;
}

std::string json_members(const LabelledAttention& attention) {
  attention.check();
  std::string json =
      fmt::format(R"("queries":{},"keys":{},"layers":{},"heads":{},"weights":)", quoted(attention.queries),
                  quoted(attention.keys), quoted(attention.layers), quoted(attention.heads));
  const float* next = attention.map.weights.data<float>();
  append_numbers(attention.map.weights.shape(), 0, next, json);
  return json;
}

}  // namespace encdec::cli
