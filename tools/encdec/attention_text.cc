#include "attention_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace encdec::cli {
namespace {

std::string quoted(const std::vector<std::string>& texts) {
  using Json = nlohmann::json;
  return Json(texts).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Nested arrays of the shape's last dimensions, from `axis` on; moves `next` on.
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

// Without the dimensions of layers and heads that were not asked for one by one.
Shape told_shape(const Shape& shape, const AttentionSelection& selection) {
  std::vector<Dim> dims;
  if (selection.layers.of == AttentionChoice::Of::each) dims.push_back(shape[0]);
  if (selection.heads.of == AttentionChoice::Of::each) dims.push_back(shape[1]);
  dims.push_back(shape[2]);
  dims.push_back(shape[3]);
  return Shape(std::span<const Dim>(dims));
}

}  // namespace

Tensor mean_map(const AttentionMap& map) {
  const Shape& shape = map.weights.shape();
  Tensor mean = Tensor::allocate({shape[2], shape[3]});
  const Dim maps = shape[0] * shape[1], size = shape[2] * shape[3];
  for (Dim m = 0; m < maps; ++m) {
    const float* weights = map.weights.data<float>() + m * size;
    for (Dim i = 0; i < size; ++i) mean.data<float>()[i] += weights[i] / static_cast<float>(maps);
  }
  return mean;
}

std::string hard_alignment(const AttentionMap& map, std::size_t queries) {
  const Tensor mean = mean_map(map);
  std::string pairs;
  if (mean.width() == 0) return pairs;
  for (std::size_t query = 0; query < queries; ++query) {
    const float* weights = mean.row(static_cast<std::int64_t>(query));
    const auto key = std::max_element(weights, weights + mean.width()) - weights;
    fmt::format_to(std::back_inserter(pairs), "{}{}-{}", query == 0 ? "" : " ", key, query);
  }
  return pairs;
}

std::string_view json_name(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder_self: return "encoder_self";
    case AttentionKind::decoder_self: return "decoder_self";
    case AttentionKind::cross: return "cross";
  }
  return {};
}

std::string json_members(const LabelledAttention& attention, const AttentionSelection& selection) {
  std::string json =
      fmt::format(R"("queries":{},"keys":{},"layers":{},"heads":{},"weights":)", quoted(attention.queries),
                  quoted(attention.keys), quoted(attention.layers), quoted(attention.heads));
  const float* next = attention.map.weights.data<float>();
  append_numbers(told_shape(attention.map.weights.shape(), selection), 0, next, json);
  return json;
}

}  // namespace encdec::cli
