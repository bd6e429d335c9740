#include "encdec/models/session.h"

#include <algorithm>
#include <cassert>
#include <chrono>

namespace encdec {
namespace {

// Adds the time until the end of the scope to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& total_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

Session::Session(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team)
    : model_(std::move(model)) {
  if (model_->encoder) encoder_state_.emplace(model_->encoder->graph(), team);
  if (model_->decoder) {
    decoder_state_.emplace(model_->decoder->graph(), team);
    output_state_.emplace(model_->output->graph(), team);
    decoder_inputs_.resize(model_->decoder->graph().inputs().size());
  }
}

const Tensor& Session::encode(std::span<const TokenIds> sources) {
  const Stopwatch stopwatch(encode_seconds_);
  close_targets();
  encoder_state_->sequences.clear();
  ids_.clear();
  for (const TokenIds& source : sources) {
    encoder_state_->sequences.push_back(
        {.first_row = static_cast<int>(ids_.size()), .rows = static_cast<int>(source.size())});
    ids_.insert(ids_.end(), source.begin(), source.end());
  }
  const Tensor ids(ids_.data(), DataType::int32, {static_cast<Dim>(ids_.size())});
  const auto outputs = model_->encoder->run(std::span(&ids, 1), *encoder_state_);
  if (!decoder_inputs_.empty()) std::copy(outputs.begin() + 1, outputs.end(), decoder_inputs_.begin() + 1);
  return outputs[0];
}

void Session::close_targets() {
  if (decoder_state_) decoder_state_->cache_index.close_all();
}

void Session::set_observer(const NodeObserver& observer) {
  for (auto* state : {&encoder_state_, &decoder_state_, &output_state_}) {
    if (*state) (*state)->observer = observer;
  }
}

int Session::open_target(int source) {
  assert((source == kNoSource) == !model_->config.has_encoder());
  const int target = decoder_state_->cache_index.open();
  if (static_cast<std::size_t>(target) >= source_of_.size()) source_of_.resize(static_cast<std::size_t>(target) + 1);
  source_of_[static_cast<std::size_t>(target)] = source;
  return target;
}

void Session::close_target(int target) {
  decoder_state_->cache_index.close(target);
}

Tensor Session::decode(std::span<const TargetTokens> inputs, LogitsOf which) {
  const Stopwatch stopwatch(decode_seconds_);
  decoder_state_->sequences.clear();
  ids_.clear();
  for (const TargetTokens& input : inputs) {
    const int count = static_cast<int>(input.tokens.size());
    Sequence sequence{.first_row = static_cast<int>(ids_.size()),
                      .rows = count,
                      .past = decoder_state_->cache_index.length(input.target),
                      .slot = input.target};
    if (const int source = source_of_[static_cast<std::size_t>(input.target)]; source != kNoSource) {
      const Sequence& encoded = encoder_state_->sequences[static_cast<std::size_t>(source)];
      sequence.memory_first = encoded.first_row;
      sequence.memory_rows = encoded.rows;
    }
    decoder_state_->sequences.push_back(sequence);
    decoder_state_->cache_index.append(input.target, count);
    ids_.insert(ids_.end(), input.tokens.begin(), input.tokens.end());
  }
  decoder_inputs_[0] = Tensor(ids_.data(), DataType::int32, {static_cast<Dim>(ids_.size())});
  Tensor hidden = model_->decoder->run(decoder_inputs_, *decoder_state_)[0];
  if (which == LogitsOf::last_token) hidden = last_rows(hidden);
  return model_->output->run(std::span(&hidden, 1), *output_state_)[0];
}

// The last row of each sequence.
Tensor Session::last_rows(const Tensor& hidden) {
  const auto& sequences = decoder_state_->sequences;
  if (hidden.rows() == static_cast<std::int64_t>(sequences.size())) return hidden;
  const auto width = static_cast<std::size_t>(hidden.width());
  last_rows_.resize(sequences.size() * width);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    std::copy_n(hidden.row(sequences[i].first_row + sequences[i].rows - 1), width, last_rows_.data() + i * width);
  }
  return {last_rows_.data(), DataType::float32, {static_cast<Dim>(sequences.size()), hidden.width()}};
}

}  // namespace encdec
