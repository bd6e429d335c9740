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

Alignment hard_alignment(const LabelledAttention& attention, std::size_t queries) {
  const Tensor mean = last_layer_mean(attention);
  Alignment alignment;
  for (std::size_t query = 0; query < queries; ++query) {
    const float* weights = mean.row(static_cast<std::int64_t>(query));
    alignment.push_back(static_cast<std::size_t>(std::max_element(weights, weights + mean.width()) - weights));
  }
  return alignment;
}

Alignment hard_alignment(const Model& model, const LabelledAttention& attention, const Hypothesis& hypothesis) {
  const TokenIds& ends = *model.generation_config().eos_tokens;
  std::size_t count = hypothesis.token_ids.size();
  if (count > 0 && std::ranges::find(ends, hypothesis.token_ids.back()) != ends.end()) --count;
  return hard_alignment(attention, count);
}

std::string to_pharaoh(const Alignment& alignment) {
  std::string pairs;
  for (std::size_t query = 0; query < alignment.size(); ++query) {
    pairs += fmt::format("{}{}-{}", query == 0 ? "" : " ", alignment[query], query);
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
