#include "bench/samples.h"

#include <fmt/format.h>

#include <utility>

namespace encdec::bench {

Tensor noise(const Shape& shape) {
  Tensor tensor = Tensor::allocate(shape);
  std::uint32_t state = 1;  // a linear congruential generator (Numerical Recipes)
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    tensor.data<float>()[i] = (static_cast<float>(state >> 8) / 0x1p24f - 0.5f) * 0.1f;
  }
  return tensor;
}

Tensor token_ids(std::int64_t count, Dim vocabulary) {
  Tensor ids = Tensor::allocate({count}, DataType::int32);
  for (std::int64_t i = 0; i < count; ++i)
    ids.data<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7919 % vocabulary);
  return ids;
}

std::shared_ptr<const WeightStore> random_store(const WeightShapes& shapes) {
  auto store = std::make_shared<WeightStore>("random weights");
  for (const auto& [name, shape] : shapes) store->add(name, noise(shape));
  return store;
}

WeightScope random_weights(const WeightShapes& shapes, const PackOptions& pack) {
  const auto names = [](const std::string& canonical) { return std::vector<StoredName>{canonical}; };
  return {random_store(shapes), names, pack};
}

WeightShapes projection_weights(Dim out, Dim in) {
  return {{"weight", {out, in}}, {"bias", {out}}};
}

WeightShapes norm_weights(Dim width) {
  return {{"weight", {width}}, {"bias", {width}}};
}

WeightShapes attention_weights(Dim model_dim) {
  WeightShapes all;
  for (const char* part : {"query", "key", "value", "output"}) {
    add_weights(all, part, projection_weights(model_dim, model_dim));
  }
  return all;
}

WeightShapes feed_forward_weights(Dim model_dim, Dim hidden_dim) {
  WeightShapes all;
  add_weights(all, "expand", projection_weights(hidden_dim, model_dim));
  add_weights(all, "project", projection_weights(model_dim, hidden_dim));
  return all;
}

void add_weights(WeightShapes& all, const std::string& name, const WeightShapes& shapes) {
  for (const auto& [part, shape] : shapes) all.emplace(name + "." + part, shape);
}

double Work::operations() const {
  double total = attention_operations;
  for (const auto& [rows, in, out] : matmuls) total += 2.0 * static_cast<double>(rows * in * out);
  return total;
}

double Work::weight_bytes(Precision precision) const {
  double total = 0;
  for (const auto& [rows, in, out] : matmuls) total += static_cast<double>(in * out) * encdec::weight_bytes(precision);
  return total;
}

Sample one_layer(std::shared_ptr<const Layer> layer, std::vector<Tensor> inputs, Work work,
                 std::vector<Sequence> sequences) {
  Graph graph("sample");
  std::vector<Edge> edges;
  for (const Tensor& input : inputs) {
    edges.push_back(graph.input(fmt::format("input {}", edges.size()), input.shape(), input.type()));
  }
  graph.output(graph.add("layer", std::move(layer), edges));
  return {std::move(graph), std::move(inputs), std::move(work), std::move(sequences)};
}

std::vector<Sequence> sequences(std::int64_t batch, const EqualSequences& each) {
  std::vector<Sequence> all;
  for (int b = 0; b < batch; ++b) {
    all.push_back({.first_row = b * static_cast<int>(each.rows),
                   .rows = static_cast<int>(each.rows),
                   .past = static_cast<int>(each.past),
                   .slot = b,
                   .first_source_row = b * static_cast<int>(each.source_rows),
                   .source_rows = static_cast<int>(each.source_rows)});
  }
  return all;
}

SampleRun::SampleRun(Sample sample, int threads)
    : executor_(std::move(sample.graph)),
      state_(executor_.graph(), std::make_shared<ThreadTeam>(threads)),
      inputs_(std::move(sample.inputs)) {
  state_.sequences = std::move(sample.sequences);
  for (Sequence& sequence : state_.sequences) {
    sequence.slot = state_.cache_index.open();
    state_.cache_index.append(sequence.slot, sequence.past + sequence.rows);
  }
}

}  // namespace encdec::bench
