// The part of ReadingSession that encodes audio.
#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/models/session/reading_session.h"

namespace encdec {
namespace {

// Copies all sources to `numbers`, as rows of `width` numbers, and pads each source's last row with zeros. Sets
// `sequences` to the rows of each source. Returns a view of `numbers`.
Tensor joined(std::span<const Tensor> sources, Dim width, std::vector<float>& numbers,
              std::vector<Sequence>& sequences) {
  numbers.clear();
  sequences.clear();
  Dim rows = 0;
  for (const Tensor& source : sources) {
    const Dim own = (source.elements() + width - 1) / width;
    sequences.push_back({.first_row = static_cast<int>(rows), .rows = static_cast<int>(own)});
    rows += own;
    numbers.insert(numbers.end(), source.data<float>(), source.data<float>() + source.elements());
    numbers.resize(static_cast<std::size_t>(rows * width));
  }
  return {numbers.data(), DataType::float32, {rows, width}};
}

}  // namespace

ReadingSession::Encoded ReadingSession::encode(std::span<const Tensor> sources, std::span<const Tensor> rows) {
  const Stopwatch stopwatch(encode_seconds_);
  const StackConfig& encoder = model_->config.encoder;
  const Dim width = model_->front ? encoder.model_dim : encoder.frames.per_row * encoder.frames.width;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (rows.empty() || rows[i].empty()) check_frames(sources[i]);
  }
  const Tensor input =
      joined(model_->front ? rows_of(sources, rows) : sources, width, frames_, encoder_state_->sequences);
  return run_encoder(std::span(&input, 1));
}

// Returns the rows of each source: `rows[i]` if these are given, else the output of Transformer::front.
std::span<const Tensor> ReadingSession::rows_of(std::span<const Tensor> sources, std::span<const Tensor> rows) {
  rows_of_sources_.assign(rows.begin(), rows.end());
  rows_of_sources_.resize(sources.size());
  // Run Transformer::front on the sources without rows.
  std::vector<Tensor> sounds;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (rows_of_sources_[i].empty()) sounds.push_back(sources[i]);
  }
  if (sounds.empty()) return rows_of_sources_;
  const FrameOptions& frames = model_->config.encoder.frames;
  Tensor samples = joined(sounds, frames.per_row, frames_, front_state_->sequences);
  positions_.clear();
  for (std::size_t i = 0; i < sounds.size(); ++i) {
    // Replace an incomplete group of samples at the end by zeros.
    const Dim count = sounds[i].rows(), lost = count % frames.counted;
    std::fill_n(samples.row(front_state_->sequences[i].first_row) + count - lost, lost, 0.0f);
    positions_.push_back(static_cast<std::int32_t>(frames.windows.front().outputs(count)));
  }
  std::vector<Tensor> inputs{samples};
  if (model_->front->graph().inputs().size() > 1) {
    inputs.emplace_back(positions_.data(), DataType::int32, Shape{static_cast<Dim>(positions_.size())});
  }
  const Tensor made = model_->front->run(inputs, *front_state_)[0];
  auto sequence = front_state_->sequences.begin();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!rows_of_sources_[i].empty()) continue;
    rows_of_sources_[i] = made.slice((sequence++)->first_row, frames.rows_of(sources[i].rows()));
  }
  return rows_of_sources_;
}

void ReadingSession::check_frames(const Tensor& frames) const {
  const FrameOptions& options = model_->config.encoder.frames;
  if (!frames.empty() && frames.type() == DataType::float32 && frames.shape().rank() == 2 &&
      frames.width() == options.width && options.rows_of(frames.rows()) > 0) {
    return;
  }
  throw InputError(fmt::format("frames of shape {}, expected {}",
                               frames.empty() ? "nothing" : to_string(frames.shape()), options.expected_shape()));
}

}  // namespace encdec
