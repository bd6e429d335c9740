// The heads that read the last hidden states of a ReadingSession.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "encdec/models/session/reading_session.h"

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

}  // namespace

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

}  // namespace encdec
