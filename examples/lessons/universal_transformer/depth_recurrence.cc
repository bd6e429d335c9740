#include "universal_transformer/depth_recurrence.h"

#include <algorithm>

namespace lessons {
namespace {

// Grows `tensor` to `shape` if it has fewer rows. Growing loses the contents.
void reserve_rows(Tensor& tensor, const Shape& shape) {
  if (tensor.empty() || tensor.rows() < shape[0]) tensor = Tensor::uninitialized(shape);
}

// Returns whether a graph has layers with a key/value cache.
bool keeps_rows(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Graph::Node& node) {
    return node.layer != nullptr && node.layer->key_value_form().heads > 0;
  });
}

}  // namespace

DepthRecurrence::DepthRecurrence(const Executor& block, const UniversalStackConfig& stack, int first_step,
                                 const std::shared_ptr<ThreadTeam>& team)
    : block_(block),
      stack_(stack),
      first_step_(first_step),
      halting_(stack.halting()),
      inputs_(block.graph().inputs().size()) {
  // Each step needs its own cache. Without caches, all steps share one state.
  const int states = keeps_rows(block.graph()) ? stack.steps : 1;
  for (int i = 0; i < states; ++i) states_of_steps_.emplace_back(block.graph(), team);
}

DepthRecurrence::Result DepthRecurrence::run(const Tensor& embedded, std::span<const Sequence> sequences,
                                             const Tensor* key_values, End end) {
  begin(embedded, sequences);
  int step = 0;
  for (; step < stack_.steps && !active_.empty(); ++step) {
    take(run_block(step, key_values));
    if (end == End::all_halted) drop_halted();
  }
  return {result_.slice(0, embedded.rows()), halting_.updates(), halting_.remainders(), step};
}

// Makes all sequences active, with their embedded tokens as states.
void DepthRecurrence::begin(const Tensor& embedded, std::span<const Sequence> sequences) {
  reserve_rows(states_, embedded.shape());
  reserve_rows(result_, embedded.shape());
  std::copy_n(embedded.data<float>(), embedded.elements(), states_.data<float>());
  std::fill_n(result_.data<float>(), embedded.elements(), 0.0f);
  halting_.reset(embedded.rows());
  active_rows_ = embedded.rows();
  active_.clear();
  for (const Sequence& sequence : sequences) active_.push_back({sequence, sequence.first_row});
}

// Runs one step of the block for the active sequences, and returns its outputs.
std::span<const Tensor> DepthRecurrence::run_block(int step, const Tensor* key_values) {
  RunState& state = states_of_steps_[std::min(static_cast<std::size_t>(step), states_of_steps_.size() - 1)];
  state.sequences.clear();
  for (const Active& active : active_) state.sequences.push_back(active.sequence);
  step_ = first_step_ + step;
  inputs_[0] = states_.slice(0, active_rows_);
  inputs_[1] = Tensor(&step_, DataType::int32, {1});
  if (key_values != nullptr) inputs_[2] = *key_values;
  return block_.run(inputs_, state);
}

// Updates the states and the results with the outputs of a step.
void DepthRecurrence::take(std::span<const Tensor> outputs) {
  const Dim width = states_.width();
  const bool adaptive = stack_.halting_threshold.has_value();
  for (const Active& active : active_) {
    for (int r = 0; r < active.sequence.rows; ++r) {
      const int row = active.sequence.first_row + r, row_of_result = active.first_row + r;
      const bool was_running = halting_.is_running(row_of_result);
      // With halting, the result is the weighted sum over steps. Otherwise it is the last output.
      const float weight = halting_.step(row_of_result, adaptive ? outputs[1].row(row)[0] : 0.0f);
      const float* transformed = outputs[0].row(row);
      float* result = result_.row(row_of_result);
      if (!adaptive) {
        std::copy_n(transformed, width, result);
      } else if (was_running) {
        for (Dim i = 0; i < width; ++i) result[i] = transformed[i] * weight + result[i] * (1.0f - weight);
      }
      if (was_running || stack_.halted_state == HaltedState::transformed) {
        std::copy_n(transformed, width, states_.row(row));
      }
    }
  }
}

// Removes the sequences whose rows have all halted, and closes the gaps between the others.
void DepthRecurrence::drop_halted() {
  const auto has_halted = [this](const Active& active) {
    for (int r = 0; r < active.sequence.rows; ++r) {
      if (halting_.is_running(active.first_row + r)) return false;
    }
    return true;
  };
  std::erase_if(active_, has_halted);
  int next = 0;
  for (Active& active : active_) {
    const std::int64_t count = active.sequence.rows * states_.width();
    // Rows only move towards the front, so overlapping copies are safe.
    std::copy_n(states_.row(active.sequence.first_row), count, states_.row(next));
    active.sequence.first_row = next;
    next += active.sequence.rows;
  }
  active_rows_ = next;
}

int DepthRecurrence::open_slot() {
  int slot = 0;
  for (RunState& step : states_of_steps_) slot = step.cache_index.open();
  return slot;
}

void DepthRecurrence::append(int slot, int count) {
  for (RunState& step : states_of_steps_) step.cache_index.append(slot, count);
}

void DepthRecurrence::close_all_slots() {
  for (RunState& step : states_of_steps_) step.cache_index.close_all();
}

}  // namespace lessons
