#include "encdec/models/session/session.h"

#include <algorithm>
#include <cassert>

namespace encdec {

Session::Session(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team,
                 std::shared_ptr<const Transformer> draft)
    : ReadingSession(std::move(model), team),
      draft_(draft == nullptr ? nullptr : std::make_unique<Session>(std::move(draft), team)) {
  if (model_->decoder) {
    decoder_state_.emplace(model_->decoder->graph(), team);
    output_state_.emplace(model_->output->graph(), team);
    decoder_inputs_.resize(model_->decoder->graph().inputs().size());
  }
  // A draft model that shares the encoder reads this session's cross-attention keys and values.
  if (draft_ && draft_->model_->config.has_encoder() && !draft_->model_->encoder)
    draft_->key_values_ = &source_key_values_;
}

// Opens the encoded sources: copies their cross-attention keys and values to source_key_values_.
Session::Encoded Session::opened(Encoded encoded) {
  const Stopwatch stopwatch(encode_seconds_);
  encoded_sources_.clear();
  if (encoded.key_values.empty()) return encoded;
  for (const Sequence& source : encoder_state_->sequences) {
    encoded_sources_.push_back(source_key_values_.add(encoded.key_values, source.first_row, source.rows));
  }
  encoded.sources = encoded_sources_;
  return encoded;
}

void Session::close_source(int source) {
  if (key_values_ == &source_key_values_)
    source_key_values_.remove(source);  // otherwise another session owns the sources
}

void Session::reset() {
  if (decoder_state_) decoder_state_->cache_index.close_all();
  source_key_values_.remove_all();
  if (draft_) draft_->reset();
}

int Session::open_target(int source) {
  assert((source == kNoSource) == !model_->config.has_encoder());
  return remember_source(decoder_state_->cache_index.open(), source);
}

int Session::fork_target(int target) {
  return remember_source(decoder_state_->cache_index.fork(target), source_of_[static_cast<std::size_t>(target)]);
}

int Session::remember_source(int target, int source) {
  const auto index = static_cast<std::size_t>(target);
  if (index >= source_of_.size()) source_of_.resize(index + 1);
  source_of_[index] = source;
  return target;
}

void Session::reorder_targets(std::span<const int> targets, std::span<const int> parents) {
  decoder_state_->cache_index.reorder(targets, parents);
}

void Session::close_target(int target) {
  decoder_state_->cache_index.close(target);
}

void Session::shorten_target(int target, int length) {
  decoder_state_->cache_index.shorten(target, length);
}

Tensor Session::decode(std::span<const TargetTokens> inputs) {
  const Stopwatch stopwatch(decode_seconds_);
  decoder_state_->sequences.clear();
  ids_.clear();
  for (const TargetTokens& input : inputs) {
    const int count = static_cast<int>(input.tokens.size());
    // Describe the rows of the target, and reserve cache for its new tokens.
    Sequence sequence{.first_row = static_cast<int>(ids_.size()),
                      .rows = count,
                      .past = decoder_state_->cache_index.length(input.target),
                      .slot = input.target};
    if (const int source = source_of_[static_cast<std::size_t>(input.target)]; source != kNoSource) {
      const SourceKeyValues::Rows rows = key_values_->rows(source);
      sequence.first_source_row = rows.first;
      sequence.source_rows = rows.count;
    }
    decoder_state_->sequences.push_back(sequence);
    decoder_state_->cache_index.append(input.target, count);
    ids_.insert(ids_.end(), input.tokens.begin(), input.tokens.end());
  }
  // S in the decoder's graph is the capacity of these tensors. The sequences contain the ranges of rows to read.
  std::ranges::copy(key_values_->tensors(), decoder_inputs_.begin() + 1);
  decoder_inputs_[0] = Tensor(ids_.data(), DataType::int32, {static_cast<Dim>(ids_.size())});
  return logits_of(wanted_rows(model_->decoder->run(decoder_inputs_, *decoder_state_)[0], inputs), inputs);
}

Tensor Session::logits_of(const Tensor& hidden, std::span<const TargetTokens> inputs) {
  if (std::ranges::all_of(inputs, [](const TargetTokens& input) { return input.shortlist == nullptr; })) {
    return model_->output->run(std::span(&hidden, 1), *output_state_)[0];
  }
  // Returns a tensor of this shape in the memory of `tensor`, which is replaced if it is too small.
  const auto space = [](Tensor& tensor, const Shape& shape) {
    if (tensor.empty() || tensor.elements() < shape.elements()) tensor = Tensor::uninitialized({shape.elements()});
    return Tensor(tensor.raw(), DataType::float32, shape);
  };
  const Dim vocabulary = model_->config.decoder.vocabulary;
  const Tensor all = space(spread_logits_, {hidden.rows(), vocabulary});
  Dim begin = 0;
  // Consecutive inputs with the same shortlist share a matmul.
  for (std::size_t i = 0; i < inputs.size();) {
    const VocabularyShortlist* shortlist = inputs[i].shortlist;
    Dim rows = 0;
    for (; i < inputs.size() && inputs[i].shortlist == shortlist; ++i) {
      rows += static_cast<Dim>(inputs[i].rows());
    }
    const Tensor from = hidden.slice(begin, rows);
    Tensor to = all.slice(begin, rows);
    begin += rows;
    const Linear& layer = shortlist == nullptr ? *model_->output_layer : shortlist->projection();
    Tensor logits = shortlist == nullptr ? to : space(shortlisted_logits_, {rows, layer.output_width()});
    model_->output->run_variant(layer, std::span(&from, 1), logits, *output_state_);
    if (shortlist != nullptr) shortlist->spread(logits, to);
  }
  return all;
}

// Returns the hidden states of the tokens whose logits are requested.
Tensor Session::wanted_rows(const Tensor& hidden, std::span<const TargetTokens> inputs) {
  Dim rows = 0;
  for (const TargetTokens& input : inputs) rows += static_cast<Dim>(input.rows());
  if (hidden.rows() == rows) return hidden;
  const auto width = static_cast<std::size_t>(hidden.width());
  wanted_rows_.resize(static_cast<std::size_t>(rows) * width);
  float* to = wanted_rows_.data();
  Dim end = 0;
  for (const TargetTokens& input : inputs) {
    end += static_cast<Dim>(input.tokens.size());
    const std::size_t wanted = input.rows();
    to = std::copy_n(hidden.row(end - static_cast<Dim>(wanted)), wanted * width, to);
  }
  return {wanted_rows_.data(), DataType::float32, {rows, hidden.width()}};
}

}  // namespace encdec
