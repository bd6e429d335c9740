#include "encdec/engine/run_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/engine/run_state_memory.h"

namespace encdec {
namespace {

// Size in bytes of the first block of a ScratchStack. Each further block is at least twice as large.
constexpr std::size_t kSmallestBlock = 65'536;

}  // namespace

Tensor ScratchStack::take(const Shape& shape) {
  const std::size_t bytes = Tensor::aligned(static_cast<std::size_t>(shape.elements()) * sizeof(float));
  if (blocks_.empty() || blocks_.back().bytes() - used_ < bytes) {
    blocks_.push_back(Tensor::of_bytes(std::max(bytes, blocks_.empty() ? kSmallestBlock : 2 * blocks_.back().bytes())));
    used_ = 0;
  }
  Tensor taken(blocks_.back().raw() + used_, DataType::float32, shape);
  used_ += bytes;
  return taken;
}

void ScratchStack::reset() {
  used_ = 0;
  if (blocks_.size() <= 1) return;
  std::size_t total = 0;
  for (const Tensor& block : blocks_) total += block.bytes();
  blocks_.clear();
  blocks_.push_back(Tensor::of_bytes(total));
}

void expect_all_rows(std::span<const Sequence> sequences, Dim rows) {
  Dim covered = 0;
  for (const Sequence& sequence : sequences) covered += sequence.rows;
  if (covered == rows) return;
  throw InputError(fmt::format("RunState::sequences: {} sequences have {} rows together, expected {}", sequences.size(),
                               covered, rows));
}

RunState::RunState(const Graph& graph, std::shared_ptr<ThreadTeam> team)
    : team_(std::move(team)), memory_(std::make_unique<Memory>()) {
  const std::size_t count = graph.nodes().size();
  memory_->values.resize(count);
  memory_->outputs.resize(graph.outputs().size());
  memory_->lifetimes.resize(count);
  memory_->offsets.resize(count);
  memory_->caches.resize(count);
  memory_->carried.resize(count);
  for (auto& observers : memory_->attention_observers) observers.resize(count);
  memory_->thread_scratch.resize(static_cast<std::size_t>(team_->size()));
  memory_->matmul_primitives.resize(static_cast<std::size_t>(team_->size()));
  for (const Graph::Node& node : graph.nodes()) {
    if (node.layer != nullptr) cache_index.add_window(node.layer->key_value_form().window);
  }
}

RunState::~RunState() = default;
RunState::RunState(RunState&&) noexcept = default;
RunState& RunState::operator=(RunState&&) noexcept = default;

Tensor RunState::scratch(const Shape& shape) {
  return memory_->scratch.take(shape);
}

float* RunState::thread_scratch(int thread, std::size_t floats) {
  Tensor& scratch = memory_->thread_scratch[static_cast<std::size_t>(thread)];
  if (scratch.empty() || scratch.bytes() < floats * sizeof(float)) {
    // Allocate 1.5 times the requested size, so that slowly growing requests seldom allocate.
    scratch = Tensor::uninitialized({static_cast<Dim>(floats + floats / 2)});
  }
  return scratch.data<float>();
}

void RunState::observe_attention(Edge node, AttentionObserver attention_observer, AttendedRows to) {
  memory_->attention_observers[static_cast<std::size_t>(to)][static_cast<std::size_t>(node.id)] =
      std::move(attention_observer);
}

const AttentionObserver& RunState::attention_observer(AttendedRows to) const {
  return memory_->attention_observers[static_cast<std::size_t>(to)][static_cast<std::size_t>(memory_->running)];
}

KeyValueCache& RunState::cache() {
  return memory_->caches[static_cast<std::size_t>(memory_->running)];
}

std::vector<float>& RunState::carried() {
  return memory_->carried[static_cast<std::size_t>(memory_->running)];
}

void RunState::continue_stream(const RunState& other) {
  memory_->carried = other.memory_->carried;
}

backend::MatMulPrimitives& RunState::matmul_primitives(int thread) {
  return memory_->matmul_primitives[static_cast<std::size_t>(thread)];
}

}  // namespace encdec
