#include "encdec/models/session/reading_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

float logarithm(float x, const SparsePooling& pooling) {
  for (int i = 0; i < pooling.logarithms; ++i) x = std::log1p(x);
  return x;
}

// Writes the mean of all rows.
void write_mean(const Tensor& rows, float* to) {
  for (Dim i = 0; i < rows.width(); ++i) {
    double sum = 0;
    for (Dim r = 0; r < rows.rows(); ++r) sum += static_cast<double>(rows.row(r)[i]);
    to[i] = static_cast<float>(sum / static_cast<double>(rows.rows()));
  }
}

// Adds the logits of a token to the weights of a text.
void add_logits(const float* logits, const SparsePooling& pooling, std::span<float> weights) {
  if (!pooling.is_sum) {
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::max(weights[i], logits[i]);
    return;
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (logits[i] > 0) weights[i] += logarithm(logits[i], pooling);
  }
}

// Copies the numbers of all sources to `numbers`, as rows of `width` numbers that `sequences` describes. Zeros fill the
// last row of a source.
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

ReadingSession::ReadingSession(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team)
    : model_(std::move(model)), team_(team) {
  if (model_->front) front_state_.emplace(model_->front->graph(), team);
  if (model_->encoder) encoder_state_.emplace(model_->encoder->graph(), team);
  if (model_->head) head_state_.emplace(model_->head->graph(), team);
}

ReadingSession::Encoded ReadingSession::encode(std::span<const TokenIds> sources, const ReadOptions& reading) {
  const Stopwatch stopwatch(encode_seconds_);
  encoder_state_->sequences.clear();
  ids_.clear();
  types_.clear();
  rows_.clear();
  target_ids_.clear();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const TokenIds& source = sources[i];
    if (source.empty()) throw InputError("a source without tokens, expected at least one");
    const auto first = static_cast<int>(ids_.size());
    const auto count = static_cast<int>(source.size());
    // A decoder in the same graph (decodes_source()) reads the rows of its own source as memory.
    encoder_state_->sequences.push_back(
        {.first_row = first, .rows = count, .first_memory_row = first, .memory_rows = count});
    if (model_->config.decodes_source()) {
      target_ids_.push_back(model_->config.head.start_token.value_or(source.back()));
      target_ids_.insert(target_ids_.end(), source.begin(), source.end() - 1);
    }
    ids_.insert(ids_.end(), source.begin(), source.end());
    types_.resize(ids_.size(), 0);
    // A model with one type gives it to all tokens, whatever the tokenizer says.
    if (model_->config.encoder.token_types > 1 && !reading.second_segments.empty() &&
        reading.second_segments[i] < source.size()) {
      std::fill(types_.begin() + first + static_cast<std::ptrdiff_t>(reading.second_segments[i]), types_.end(), 1);
    }
    rows_.resize(reading.first_rows ? i + 1 : ids_.size());
    std::iota(rows_.begin() + (reading.first_rows ? static_cast<std::ptrdiff_t>(i) : first), rows_.end(), first);
  }
  const auto vector = [](TokenIds& values) {
    return Tensor(values.data(), DataType::int32, {static_cast<Dim>(values.size())});
  };
  std::vector<Tensor> inputs{vector(ids_)};
  if (model_->config.encoder.token_types > 0) inputs.push_back(vector(types_));
  if (model_->config.gathers_rows) inputs.push_back(vector(rows_));
  if (model_->config.decodes_source()) inputs.push_back(vector(target_ids_));
  return run_encoder(inputs);
}

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

// Returns the rows of each source: those that are known, or those that the front makes of the samples.
std::span<const Tensor> ReadingSession::rows_of(std::span<const Tensor> sources, std::span<const Tensor> rows) {
  rows_of_sources_.assign(rows.begin(), rows.end());
  rows_of_sources_.resize(sources.size());
  std::vector<Tensor> sounds;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (rows_of_sources_[i].empty()) sounds.push_back(sources[i]);
  }
  if (sounds.empty()) return rows_of_sources_;
  const FrameOptions& frames = model_->config.encoder.frames;
  Tensor samples = joined(sounds, frames.per_row, frames_, front_state_->sequences);
  positions_.clear();
  for (std::size_t i = 0; i < sounds.size(); ++i) {
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

Tensor ReadingSession::classify(const Encoded& encoded) {
  Tensor rows = encoded.classified;
  const HeadConfig& head = model_->config.head;
  const bool pools = head.kind == HeadKind::sequences, pools_logits = head.pooling == HeadPooling::mean_logits;
  if (pools && !pools_logits) rows = pooled(rows, head.pooling);
  const Tensor logits = model_->head->run(std::span(&rows, 1), *head_state_)[0];
  return pools && pools_logits ? pooled(logits, HeadPooling::mean) : logits;
}

// Returns a row for each source of the last encode() [sources, W], made of the rows of its tokens, or `rows` themselves
// if there is already one for each source.
Tensor ReadingSession::pooled(const Tensor& rows, HeadPooling pooling) {
  const auto& sequences = encoder_state_->sequences;
  if (rows.rows() == static_cast<Dim>(sequences.size())) return rows;
  const auto width = static_cast<std::size_t>(rows.width());
  pooled_rows_.resize(sequences.size() * width);
  float* to = pooled_rows_.data();
  for (const Sequence& sequence : sequences) {
    if (pooling == HeadPooling::mean) {
      write_mean(rows.slice(sequence.first_row, sequence.rows), to);
    } else {
      int row = sequence.first_row;
      if (pooling == HeadPooling::last_end) {
        row += sequence.rows - 1;
        while (ids_[static_cast<std::size_t>(row)] != model_->config.head.end_token) --row;
        assert(row >= sequence.first_row);
      }
      std::copy_n(rows.row(row), width, to);
    }
    to += width;
  }
  return {pooled_rows_.data(), DataType::float32, {static_cast<Dim>(sequences.size()), rows.width()}};
}

void ReadingSession::weigh_vocabulary(const Encoded& encoded,
                                      const std::function<void(std::size_t, const Tensor&)>& take) {
  constexpr Dim kLogitsBytes = 32 << 20, kMinRows = 8, kMaxRows = 64;
  const HeadConfig& head = model_->config.head;
  const Dim most = std::clamp(kLogitsBytes / (head.labels * Dim{sizeof(float)}), kMinRows, kMaxRows);
  Tensor logits;  // the logits of rows [begin, end)
  Dim begin = 0, end = 0;
  for (std::size_t source = 0; source < encoder_state_->sequences.size(); ++source) {
    vocabulary_weights_.assign(static_cast<std::size_t>(head.labels), 0.0f);
    const Sequence& sequence = encoder_state_->sequences[source];
    for (Dim row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
      if (row == end) {
        begin = std::exchange(end, std::min(end + most, encoded.hidden.rows()));
        const Tensor rows = encoded.hidden.slice(begin, end - begin);
        logits = model_->head->run(std::span(&rows, 1), *head_state_)[0];
      }
      add_logits(logits.row(row - begin), head.sparse, vocabulary_weights_);
    }
    if (!head.sparse.is_sum) {
      // The logarithm keeps the order, so that it is taken of the maximum alone.
      for (float& weight : vocabulary_weights_) weight = logarithm(weight, head.sparse);
    }
    take(source, Tensor(vocabulary_weights_.data(), DataType::float32, {1, head.labels}));
  }
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

ReadingSession::Encoded ReadingSession::run_encoder(std::span<const Tensor> inputs) {
  const auto outputs = model_->encoder->run(inputs, *encoder_state_);
  if (!model_->config.has_decoder()) return {outputs.front(), {}, {}, outputs.back()};
  return {outputs.front(), {}, outputs.subspan(1), Tensor()};
}

}  // namespace encdec
