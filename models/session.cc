#include "encdec/models/session.h"

#include <chrono>

#include "encdec/models/decoder.h"
#include "encdec/models/encoder.h"

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

EncoderDecoder::EncoderDecoder(const TransformerConfig& config_, const WeightScope& weights)
    : config(config_), encoder(build_encoder(config, weights)), decoder(build_decoder(config, weights)) {}

Session::Session(std::shared_ptr<const EncoderDecoder> model, const std::shared_ptr<ThreadTeam>& team)
    : model_(std::move(model)),
      encoder_state_(model_->encoder.graph(), team),
      decoder_state_(model_->decoder.graph(), team),
      decoder_inputs_(model_->decoder.graph().inputs().size()) {}

const Tensor& Session::encode(std::span<const TokenIds> sources) {
  const Stopwatch stopwatch(encode_seconds_);
  decoder_state_.cache_index.close_all();
  encoder_state_.sequences.clear();
  ids_.clear();
  for (const TokenIds& source : sources) {
    encoder_state_.sequences.push_back(
        {.first_row = static_cast<int>(ids_.size()), .rows = static_cast<int>(source.size())});
    ids_.insert(ids_.end(), source.begin(), source.end());
  }
  const Tensor ids(ids_.data(), DataType::int32, {static_cast<Dim>(ids_.size())});
  const auto outputs = model_->encoder.run(std::span(&ids, 1), encoder_state_);
  std::copy(outputs.begin() + 1, outputs.end(), decoder_inputs_.begin() + 1);
  return outputs[0];
}

void Session::set_observer(const NodeObserver& observer) {
  encoder_state_.observer = observer;
  decoder_state_.observer = observer;
}

int Session::open_target(int source) {
  const int target = decoder_state_.cache_index.open();
  if (static_cast<std::size_t>(target) >= source_of_.size()) source_of_.resize(static_cast<std::size_t>(target) + 1);
  source_of_[static_cast<std::size_t>(target)] = source;
  return target;
}

void Session::close_target(int target) {
  decoder_state_.cache_index.close(target);
}

Tensor Session::decode(std::span<const TargetTokens> inputs) {
  const Stopwatch stopwatch(decode_seconds_);
  decoder_state_.sequences.clear();
  ids_.clear();
  for (const TargetTokens& input : inputs) {
    const int source = source_of_[static_cast<std::size_t>(input.target)];
    const Sequence& encoded = encoder_state_.sequences[static_cast<std::size_t>(source)];
    const int count = static_cast<int>(input.tokens.size());
    decoder_state_.sequences.push_back({.first_row = static_cast<int>(ids_.size()),
                                        .rows = count,
                                        .past = decoder_state_.cache_index.length(input.target),
                                        .slot = input.target,
                                        .memory_first = encoded.first_row,
                                        .memory_rows = encoded.rows});
    decoder_state_.cache_index.append(input.target, count);
    ids_.insert(ids_.end(), input.tokens.begin(), input.tokens.end());
  }
  decoder_inputs_[0] = Tensor(ids_.data(), DataType::int32, {static_cast<Dim>(ids_.size())});
  return model_->decoder.run(decoder_inputs_, decoder_state_)[0];
}

}  // namespace encdec
