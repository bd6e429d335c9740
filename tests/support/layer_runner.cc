#include "tests/support/layer_runner.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace encdec {
namespace {

Graph graph_of(std::shared_ptr<const Layer> layer, std::span<const Shape> inputs, std::span<const DataType> types) {
  Graph graph("test");
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    edges.push_back(graph.input("input " + std::to_string(i), inputs[i], types[std::min(i, types.size() - 1)]));
  }
  graph.output(graph.add("layer", std::move(layer), std::move(edges)));
  return graph;
}

}  // namespace

std::vector<Sequence> packed(std::span<const int> rows) {
  return packed(rows, {});
}

std::vector<Sequence> packed(std::span<const int> rows, std::span<const int> pasts, std::span<const int> source_rows) {
  std::vector<Sequence> sequences;
  int first_row = 0, first_source_row = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Sequence sequence{.first_row = first_row, .rows = rows[i]};
    if (!pasts.empty()) sequence.past = pasts[i];
    if (!source_rows.empty()) {
      sequence.first_source_row = first_source_row;
      sequence.source_rows = source_rows[i];
      first_source_row += source_rows[i];
    }
    sequences.push_back(sequence);
    first_row += rows[i];
  }
  return sequences;
}

LayerRunner::LayerRunner(std::shared_ptr<const Layer> layer, std::span<const Shape> inputs, int threads,
                         const std::vector<DataType>& types)
    : executor_(graph_of(std::move(layer), inputs, types)),
      state_(executor_.graph(), std::make_shared<ThreadTeam>(threads)) {}

void LayerRunner::open_slots(std::vector<Sequence>& sequences) {
  for (Sequence& sequence : sequences) {
    sequence.slot = state_.cache_index.open();
    state_.cache_index.append(sequence.slot, sequence.past + sequence.rows);
  }
}

Tensor LayerRunner::run(std::span<const Tensor> inputs, std::vector<Sequence> sequences) {
  state_.sequences = std::move(sequences);
  return copy_of(executor_.run(inputs, state_).front());
}

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = Tensor::allocate(tensor.shape(), tensor.type());
  if (copy.bytes() > 0) std::memcpy(copy.raw(), tensor.raw(), copy.bytes());
  return copy;
}

Tensor gather_rows(const Tensor& tensor, std::span<const int> rows) {
  Tensor gathered = Tensor::allocate({static_cast<Dim>(rows.size()), tensor.width()});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(tensor.row(rows[i]), tensor.width(), gathered.row(static_cast<std::int64_t>(i)));
  }
  return gathered;
}

}  // namespace encdec
