#include "encdec/models/session/streaming_encoder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

// Returns the graph that runs on chunks. Throws ConfigError if the model has no such graph.
const Graph& front_of(const Transformer& model) {
  if (model.front && model.config.encoder.frames.reads_chunks) return model.front->graph();
  throw ConfigError(model.config.model_type + " cannot encode in chunks, expected moonshine_streaming");
}

}  // namespace

StreamingEncoder::StreamingEncoder(std::shared_ptr<const Transformer> model, std::shared_ptr<ThreadTeam> team)
    : model_(std::move(model)),
      team_(std::move(team)),
      state_(front_of(*model_), team_),
      ending_(front_of(*model_), team_) {
  for (const AttentionOptions& layer : model_->config.encoder.layer_attention) lag_ += layer.limits.after;
}

void StreamingEncoder::push(std::span<const float> samples, std::vector<float>& rows) {
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  // Run the graph on whole rows of samples, and keep the remaining samples.
  const auto per_row = static_cast<std::size_t>(model_->config.encoder.frames.per_row);
  const std::size_t count = samples_.size() / per_row;
  run(state_, std::span(samples_).first(count * per_row), std::numeric_limits<int>::max(), rows);
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(count * per_row));
  read_ += static_cast<int>(count);
}

void StreamingEncoder::end_here(std::vector<float>& rows) {
  const FrameOptions& frames = model_->config.encoder.frames;
  const auto per_row = static_cast<std::size_t>(frames.per_row);
  const std::size_t left = (samples_.size() + per_row - 1) / per_row;
  std::vector<float> last = samples_;
  last.resize(last.size() - last.size() % static_cast<std::size_t>(frames.counted));
  // Fill the last row with zeros, and append the lag_ rows of zeros that the layers look ahead.
  last.resize((left + static_cast<std::size_t>(lag_)) * per_row);
  // Run the graph on a copy of the state, so that push() can continue.
  ending_.continue_stream(state_);
  if (const int end = read_ + static_cast<int>(left); end > 0) run(ending_, last, end, rows);
}

void StreamingEncoder::finish(std::vector<float>& rows) {
  end_here(rows);
  samples_.clear();
  read_ = 0;
  state_ = RunState(model_->front->graph(), team_);
}

// Runs the graph on whole rows of samples, which follow the first `read_` rows. `end` is the number of rows of the
// recording, or the maximum of int while the number is unknown. Appends the rows that are complete to `rows`.
void StreamingEncoder::run(RunState& state, std::span<float> samples, int end, std::vector<float>& rows) {
  const Dim per_row = model_->config.encoder.frames.per_row, count = static_cast<Dim>(samples.size()) / per_row;
  if (count == 0) return;
  state.sequences = {{.rows = static_cast<int>(count)}};
  state.stream = {.first = read_, .end = end};
  const Tensor input(samples.data(), DataType::float32, {count, per_row});
  const Tensor output = model_->front->run(std::span(&input, 1), state)[0];
  const Dim first = state.stream->first;  // position of the first row of `output`, set by the graph
  // Drop rows before the recording's start and after its end.
  const Dim begin = std::clamp<Dim>(-first, 0, count), last = std::clamp<Dim>(end - first, begin, count);
  rows.insert(rows.end(), output.data<float>() + begin * width(), output.data<float>() + last * width());
}

}  // namespace encdec
