#include "encdec/models/session/reading_session.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "encdec/engine/base/error.h"

namespace encdec {

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
    // If the graph includes a decoder (decodes_source()), that decoder attends to the rows of the same source.
    encoder_state_->sequences.push_back(
        {.first_row = first, .rows = count, .first_source_row = first, .source_rows = count});
    if (model_->config.decodes_source()) {
      target_ids_.push_back(model_->config.head.start_token.value_or(source.back()));
      target_ids_.insert(target_ids_.end(), source.begin(), source.end() - 1);
    }
    ids_.insert(ids_.end(), source.begin(), source.end());
    types_.resize(ids_.size(), 0);
    // If the model has only one token type, all tokens keep type 0.
    if (model_->config.encoder.token_types > 1 && !reading.second_segments.empty() &&
        reading.second_segments[i] < source.size()) {
      std::fill(types_.begin() + first + static_cast<std::ptrdiff_t>(reading.second_segments[i]), types_.end(), 1);
    }
    // Select the rows to compute: each source's first row, or all rows.
    rows_.resize(reading.first_rows ? i + 1 : ids_.size());
    std::iota(rows_.begin() + (reading.first_rows ? static_cast<std::ptrdiff_t>(i) : first), rows_.end(), first);
  }
  // Pass only the inputs that the encoder's graph has, in the graph's order.
  const auto vector = [](TokenIds& values) {
    return Tensor(values.data(), DataType::int32, {static_cast<Dim>(values.size())});
  };
  std::vector<Tensor> inputs{vector(ids_)};
  if (model_->config.encoder.token_types > 0) inputs.push_back(vector(types_));
  if (model_->config.gathers_rows) inputs.push_back(vector(rows_));
  if (model_->config.decodes_source()) inputs.push_back(vector(target_ids_));
  return run_encoder(inputs);
}

ReadingSession::Encoded ReadingSession::run_encoder(std::span<const Tensor> inputs) {
  const auto outputs = model_->encoder->run(inputs, *encoder_state_);
  if (!model_->config.has_decoder()) return {outputs.front(), {}, {}, outputs.back()};
  return {outputs.front(), {}, outputs.subspan(1), Tensor()};
}

}  // namespace encdec
