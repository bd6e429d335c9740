#include "attention_labels.h"

#include <encdec/engine/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace encdec::cli {
namespace {

using Of = AttentionChoice::Of;

std::vector<std::string> token_names(const Model& model, std::span<const std::int32_t> ids, TextSide side) {
  std::vector<std::string> names;
  for (const std::int32_t& id : ids) {
    std::string name = std::to_string(id);
    if (model.tokenizer() != nullptr) {
      try {
        name = model.tokenizer()->pieces(std::span(&id, 1), side).front();
      } catch (const InputError&) {  // models may have more rows than their vocabulary has pieces
      }
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> choice_names(const AttentionChoice& choice, Dim size, int all) {
  if (choice.of == Of::mean) return {"mean"};
  if (choice.of == Of::one) return {std::to_string(choice.number_of(all))};
  std::vector<std::string> names;
  for (Dim i = 0; i < size; ++i) names.push_back(std::to_string(i));
  return names;
}

// The last rows of each map.
Tensor last_queries(const Tensor& weights, Dim count) {
  const Shape& shape = weights.shape();
  if (count == shape[2]) return weights;
  Tensor last = Tensor::allocate({shape[0], shape[1], count, shape[3]});
  for (Dim map = 0; map < shape[0] * shape[1]; ++map) {
    std::copy_n(weights.row(map * shape[2] + shape[2] - count), count * shape[3], last.row(map * count));
  }
  return last;
}

LabelledAttention labelled(const Model& model, const AttentionMaps& attention, const AttentionMap& map,
                           const AttentionSelection& selection) {
  const bool is_encoder = map.kind == AttentionKind::encoder_self;
  const StackConfig& stack = is_encoder ? model.config().encoder : model.config().decoder;
  const Shape& shape = map.weights.shape();
  LabelledAttention result;
  result.map = map;
  result.layers = choice_names(selection.layers, shape[0], stack.layers);
  result.heads = choice_names(selection.heads, shape[1], stack.heads);
  result.queries = is_encoder ? token_names(model, attention.source, TextSide::source)
                              : token_names(model, attention.target, TextSide::target);
  result.queries.resize(static_cast<std::size_t>(shape[2]), "?");
  result.keys = map.kind == AttentionKind::decoder_self ? token_names(model, attention.decoder_input, TextSide::target)
                                                        : token_names(model, attention.source, TextSide::source);
  return result;
}

}  // namespace

std::vector<LabelledAttention> label(const Model& model, const AttentionMaps& attention,
                                     const AttentionSelection& selection) {
  std::vector<LabelledAttention> all;
  for (const AttentionMap& map : attention.maps) all.push_back(labelled(model, attention, map, selection));
  return all;
}

LabelledAttention label_generated(const Model& model, const Hypothesis& hypothesis,
                                  const AttentionSelection& selection) {
  const auto& maps = hypothesis.attention.maps;
  const auto found = std::ranges::find(maps, main_kind(model.config()), &AttentionMap::kind);
  if (found == maps.end()) return {};
  LabelledAttention result = labelled(model, hypothesis.attention, *found, selection);
  const std::size_t count = hypothesis.token_ids.size();
  result.queries.erase(result.queries.begin(), result.queries.end() - static_cast<std::ptrdiff_t>(count));
  result.map.weights = last_queries(found->weights, static_cast<Dim>(count));
  return result;
}

AttentionKind main_kind(const TransformerConfig& config) {
  switch (config.architecture) {
    case Architecture::encoder_decoder: return AttentionKind::cross;
    case Architecture::encoder_only: return AttentionKind::encoder_self;
    case Architecture::decoder_only: return AttentionKind::decoder_self;
  }
  return AttentionKind::cross;
}

}  // namespace encdec::cli
