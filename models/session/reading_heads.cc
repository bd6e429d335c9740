// The functions of ReadingSession that run heads: classifiers, and sparse vectors of masked language models.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "encdec/models/session/reading_session.h"

namespace encdec {
namespace {

float logarithm(float x, const SparsePooling& pooling) {
  for (int i = 0; i < pooling.log1p_count; ++i) x = std::log1p(x);
  return x;
}

// Writes the mean of all rows to `to`. Adds in double precision.
void write_mean(const Tensor& rows, float* to) {
  for (Dim i = 0; i < rows.width(); ++i) {
    double sum = 0;
    for (Dim r = 0; r < rows.rows(); ++r) sum += static_cast<double>(rows.row(r)[i]);
    to[i] = static_cast<float>(sum / static_cast<double>(rows.rows()));
  }
}

// Updates the weights of a text with a token's logits, by sum or by maximum. For a maximum, the caller applies the
// logarithm later.
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

// Pools the rows of each source of the last encode() to one row. Returns [sources, W], which is `rows` itself if there
// is already one row per source.
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
        // Find the last end token. check_end() has checked that there is one.
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
  // Logits of all tokens can take gigabytes, so compute them in blocks of about kLogitsBytes.
  constexpr Dim kLogitsBytes = 32 << 20, kMinRows = 8, kMaxRows = 64;
  const HeadConfig& head = model_->config.head;
  const Dim most = std::clamp(kLogitsBytes / (head.labels * Dim{sizeof(float)}), kMinRows, kMaxRows);
  Tensor logits;  // logits of the block of rows [begin, end)
  Dim begin = 0, end = 0;
  for (std::size_t source = 0; source < encoder_state_->sequences.size(); ++source) {
    vocabulary_weights_.assign(static_cast<std::size_t>(head.labels), 0.0f);
    const Sequence& sequence = encoder_state_->sequences[source];
    for (Dim row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
      // Compute the next block, which may begin within a source.
      if (row == end) {
        begin = std::exchange(end, std::min(end + most, encoded.hidden.rows()));
        const Tensor rows = encoded.hidden.slice(begin, end - begin);
        logits = model_->head->run(std::span(&rows, 1), *head_state_)[0];
      }
      add_logits(logits.row(row - begin), head.sparse, vocabulary_weights_);
    }
    if (!head.sparse.is_sum) {
      // The logarithm preserves order, so apply it only once, to the maximum.
      for (float& weight : vocabulary_weights_) weight = logarithm(weight, head.sparse);
    }
    take(source, Tensor(vocabulary_weights_.data(), DataType::float32, {1, head.labels}));
  }
}

}  // namespace encdec
