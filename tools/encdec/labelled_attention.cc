#include "labelled_attention.h"

#include <encdec/engine/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace encdec::cli {
namespace {

constexpr std::string_view kMean = "mean";
// Rows of rounded numbers add up to a little more than 1.
constexpr float kLargestWeight = 1.001F;

std::string name_of(const std::string& label, const char* what) {
  return label == kMean ? fmt::format("mean of {}s", what) : fmt::format("{} {}", what, label);
}

}  // namespace

void check(const LabelledAttention& attention) {
  const std::string kind(to_string(attention.map.kind));
  const Tensor& weights = attention.map.weights;
  const auto size = [](const std::vector<std::string>& labels) { return static_cast<Dim>(labels.size()); };
  const Shape expected{size(attention.layers), size(attention.heads), size(attention.queries), size(attention.keys)};
  if (weights.type() != DataType::float32 || weights.shape() != expected) {
    throw InputError(fmt::format("{}: weights of shape {}, expected float32 {}, a label for each", kind,
                                 to_string(weights.shape()), to_string(expected)));
  }
  if (std::ranges::count(expected.dims(), 0) > 0) {
    throw InputError(fmt::format("{}: weights of shape {}, expected at least one of each", kind, to_string(expected)));
  }
  const std::span values(weights.data<float>(), static_cast<std::size_t>(weights.elements()));
  const auto wrong = std::ranges::find_if_not(values, [](float v) { return v >= 0 && v <= kLargestWeight; });
  if (wrong != values.end()) throw InputError(fmt::format("{}: a weight is {}, expected 0 to 1", kind, *wrong));
}

std::span<const float> weights_of(const LabelledAttention& attention, std::size_t layer, std::size_t head) {
  const std::size_t size = attention.queries.size() * attention.keys.size();
  return {attention.map.weights.data<float>() + (layer * attention.heads.size() + head) * size, size};
}

float largest_weight(const LabelledAttention& attention) {
  const Tensor& weights = attention.map.weights;
  return *std::max_element(weights.data<float>(), weights.data<float>() + weights.elements());
}

std::string map_name(const LabelledAttention& attention, std::size_t layer, std::size_t head) {
  const std::string& layer_label = attention.layers[layer];
  const std::string& head_label = attention.heads[head];
  if (layer_label == kMean && head_label == kMean) return "mean of layers and heads";
  return name_of(layer_label, "layer") + ", " + name_of(head_label, "head");
}

}  // namespace encdec::cli
