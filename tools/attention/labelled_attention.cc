#include "attention/labelled_attention.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace encdec::cli {
namespace {

constexpr std::string_view kMean = "mean";
// Upper bound of a weight: rounding may lift it slightly above 1.
constexpr float kLargestWeight = 1.001F;

std::span<const float> all_weights(const Tensor& weights) {
  return {weights.data<float>(), static_cast<std::size_t>(weights.elements())};
}

std::vector<std::string> choice_names(const AttentionChoice& choice, Dim size, int all) {
  if (choice.of == AttentionChoice::Of::mean) return {std::string(kMean)};
  if (choice.of == AttentionChoice::Of::one) return {std::to_string(choice.number_of(all))};
  std::vector<std::string> names;
  for (Dim i = 0; i < size; ++i) names.push_back(std::to_string(i));
  return names;
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
    } catch (const InputError&) {  // the model may have more ids than the vocabulary has pieces
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

}  // namespace encdec::cli
