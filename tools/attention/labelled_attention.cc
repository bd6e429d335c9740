#include "attention/labelled_attention.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace encdec::cli {
namespace {

constexpr std::string_view kMean = "mean";
// Upper bound of a weight. Rounding can raise a weight slightly above 1.
constexpr float kLargestWeight = 1.001F;

std::span<const float> all_weights(const Tensor& weights) {
  return {weights.data<float>(), static_cast<std::size_t>(weights.elements())};
}

// Returns the names of the chosen layers or heads. `size` is the number of chosen ones, `all` the number in the model.
std::vector<std::string> choice_names(const AttentionChoice& choice, Dim size, int all) {
  if (choice.of == AttentionChoice::Of::mean) return {std::string(kMean)};
  if (choice.of == AttentionChoice::Of::one) return {std::to_string(choice.number_of(all))};
  std::vector<std::string> names;
  for (Dim i = 0; i < size; ++i) names.push_back(std::to_string(i));
  return names;
}

// Returns a JSON array of strings. Replaces bytes that are not UTF-8.
std::string quoted(const std::vector<std::string>& texts) {
  using Json = nlohmann::ordered_json;
  return Json(texts).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Appends nested arrays for the dimensions from `axis` on. Advances the pointer `next` past the numbers of the arrays.
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

// Colours of evenly spaced colour numbers. Their lightness in OKLab decreases evenly. Other colours are interpolated.
constexpr Color kBlues[] = {{255, 255, 255}, {188, 233, 255}, {135, 207, 254}, {89, 179, 241}, {49, 150, 221},
                            {10, 122, 197},  {0, 94, 167},    {0, 67, 135},    {0, 43, 100}};
constexpr int kSteps = (kColors - 1) / (static_cast<int>(std::size(kBlues)) - 1);  // steps between neighbouring colours

std::uint8_t mix(std::uint8_t low, std::uint8_t high, int step) {
  return static_cast<std::uint8_t>(std::lround(low + (high - low) * static_cast<double>(step) / kSteps));
}

}  // namespace

void LabelledAttention::check() const {
  for (const float weight : all_weights(map.weights)) {
    if (weight >= 0 && weight <= kLargestWeight) continue;
    throw InputError(fmt::format("{}: a weight is {}, expected 0 to 1", to_string(map.kind), weight));
  }
}

std::string LabelledAttention::name_of(std::size_t index) const {
  const auto name = [](const std::string& label, const char* what) {
    return label == kMean ? fmt::format("mean of {}s", what) : fmt::format("{} {}", what, label);
  };
  const std::string &layer = layers[index / heads.size()], &head = heads[index % heads.size()];
  if (layer.empty()) return "";
  if (layer == kMean && head == kMean) return "mean of layers and heads";
  return name(layer, "layer") + ", " + name(head, "head");
}

std::string_view LabelledAttention::query_title() const {
  return map.kind == AttentionKind::encoder_self ? "source tokens encoded" : "target tokens written";
}

std::string_view LabelledAttention::key_title() const {
  return map.kind == AttentionKind::decoder_self ? "target tokens read" : "source tokens read";
}

std::span<const float> LabelledAttention::weights_of(std::size_t index) const {
  const std::size_t size = queries.size() * keys.size();
  return all_weights(map.weights).subspan(index * size, size);
}

float LabelledAttention::largest_weight() const {
  return std::ranges::max(all_weights(map.weights));
}

std::string token_name(const Model& model, std::int32_t id, TextSide side) {
  if (model.tokenizer() != nullptr) {
    try {
      return model.tokenizer()->pieces(std::span(&id, 1), side).front();
    } catch (const InputError&) {  // the model can have more ids than the vocabulary has tokens
    }
  }
  return std::to_string(id);
}

std::vector<std::string> token_names(const Model& model, std::span<const std::int32_t> ids, TextSide side) {
  std::vector<std::string> names;
  for (const std::int32_t id : ids) names.push_back(token_name(model, id, side));
  return names;
}

std::vector<LabelledAttention> label(const Model& model, const AttentionMaps& attention,
                                     const AttentionSelection& selection) {
  const auto sources = token_names(model, attention.source, TextSide::source);
  const auto targets = token_names(model, attention.target, TextSide::target);
  std::vector<LabelledAttention> all;
  for (const AttentionMap& map : attention.maps) {
    const bool is_encoder = map.kind == AttentionKind::encoder_self;
    const StackConfig& stack = is_encoder ? model.config().encoder : model.config().decoder;
    const Shape& shape = map.weights.shape();
    LabelledAttention& labelled = all.emplace_back();
    labelled.map = map;
    labelled.layers = choice_names(selection.layers, shape[0], stack.layers);
    labelled.heads = choice_names(selection.heads, shape[1], stack.attention.heads);
    labelled.queries = is_encoder ? sources : targets;
    labelled.queries.resize(static_cast<std::size_t>(shape[2]), "?");
    labelled.keys = map.kind == AttentionKind::decoder_self
                        ? token_names(model, attention.decoder_input, TextSide::target)
                        : sources;
  }
  return all;
}

LabelledAttention label_generated(const Model& model, const Hypothesis& hypothesis,
                                  const AttentionSelection& selection) {
  LabelledAttention labelled = label(model, hypothesis.attention, selection).front();
  // Keep the rows of generated tokens, which are the last ones.
  const std::size_t count = hypothesis.token_ids.size();
  labelled.queries.erase(labelled.queries.begin(), labelled.queries.end() - static_cast<std::ptrdiff_t>(count));
  const Tensor all_rows = labelled.map.weights;
  const Shape& shape = all_rows.shape();
  const auto rows = static_cast<Dim>(count);
  labelled.map.weights = Tensor::allocate({shape[0], shape[1], rows, shape[3]});
  for (Dim map = 0; map < shape[0] * shape[1]; ++map) {
    std::copy_n(all_rows.row((map + 1) * shape[2] - rows), rows * shape[3], labelled.map.weights.row(map * rows));
  }
  return labelled;
}

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

int color_number(float weight, float largest) {
  if (largest <= 0) return 0;
  return static_cast<int>(std::lround(std::clamp(weight / largest, 0.0F, 1.0F) * (kColors - 1)));
}

Color color_of(int number) {
  const auto below = static_cast<std::size_t>(std::min(number, kColors - 2) / kSteps);
  const int step = number - static_cast<int>(below) * kSteps;
  const Color low = kBlues[below], high = kBlues[below + 1];
  return {mix(low.red, high.red, step), mix(low.green, high.green, step), mix(low.blue, high.blue, step)};
}

std::string weight_text(float weight) {
  return fmt::format("{:.3g}", weight);
}

}  // namespace encdec::cli
