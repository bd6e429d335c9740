// The functions of Session that let callers observe attention and the execution of nodes.
#include <fmt/format.h>

#include <algorithm>

#include "encdec/models/session/session.h"

namespace encdec {

// An attention to observe: the state of its graph, its node, and the attended rows to report.
struct Session::ObservedAttention {
  RunState* state;
  Edge node;
  AttendedRows to = AttendedRows::own;
};

void Session::set_source_attention(SourceAttention mode) {
  const TransformerConfig& config = model_->config;
  if (!config.has_encoder() || !config.has_decoder() || config.decoder.layers == 0) return;
  AttentionObserver observer;
  // For each row, keep the weights of the alignment head, or the mean over all heads.
  if (mode == SourceAttention::keep) {
    observer = [this, only = config.alignment_head,
                share = config.alignment_head ? 1.0f : 1.0f / static_cast<float>(config.decoder.attention.heads)](
                   const AttentionWeights& attention) {
      const auto row = static_cast<std::size_t>(attention.row);
      if (row >= attention_of_row_.size()) attention_of_row_.resize(row + 1);
      std::vector<float>& mean = attention_of_row_[row];
      if (attention.head == 0) mean.assign(attention.weights.size(), 0.0f);
      if (only && attention.head != *only) return;
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += share * attention.weights[i];
    };
  }
  const ObservedAttention last = attention_of(AttentionKind::cross, config.decoder.layers - 1);
  last.state->observe_attention(last.node, std::move(observer), last.to);
}

// Returns the node of an attention. Cross-attention is either a separate node or part of the
// self-attention node (T5Gemma 2).
Session::ObservedAttention Session::attention_of(AttentionKind kind, int layer) {
  const bool is_encoder = kind == AttentionKind::encoder_self;
  const Graph& graph = (is_encoder ? model_->encoder : model_->decoder)->graph();
  const std::string block = fmt::format("{}.{}", is_encoder ? "encoder" : "decoder", layer);
  RunState* const state = &*(is_encoder ? encoder_state_ : decoder_state_);
  if (kind != AttentionKind::cross) return {state, graph.find(block + ".self_attention")};
  const std::string cross = block + ".cross_attention";
  const bool is_node = std::ranges::find(graph.nodes(), cross, &Graph::Node::name) != graph.nodes().end();
  if (is_node) return {state, graph.find(cross)};
  return {state, graph.find(block + ".self_attention"), AttendedRows::source};
}

Session::Observation Session::observe_attention(AttentionKind kind, int layer, AttentionObserver observer) {
  const ObservedAttention observed = attention_of(kind, layer);
  observed.state->observe_attention(observed.node, std::move(observer), observed.to);
  return {observed.state, [observed](RunState* state) { state->observe_attention(observed.node, {}, observed.to); }};
}

std::span<const float> Session::source_attention(std::size_t input) const {
  const Sequence& sequence = decoder_state_->sequences[input];
  return attention_of_row_[static_cast<std::size_t>(sequence.first_row + sequence.rows - 1)];
}

void Session::set_observer(const NodeObserver& observer) {
  for (auto* state : {&front_state_, &encoder_state_, &decoder_state_, &output_state_, &head_state_}) {
    if (*state) (*state)->observer = observer;
  }
}

void Session::set_run_observer(const NodeRunObserver& observer) {
  for (auto* state : {&front_state_, &encoder_state_, &decoder_state_, &output_state_, &head_state_}) {
    if (*state) (*state)->run_observer = observer;
  }
}

}  // namespace encdec
