#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "encdec/models/transformer.h"

namespace encdec {

using TokenIds = std::vector<std::int32_t>;

// One stream of work through a model: encodes a batch of sources, then decodes any number of targets for them, one
// token or many at a time. For one thread at a time; the weights are shared, the activations and caches are its own.
class Session {
 public:
  // A target without a source: a decoder-only model's.
  static constexpr int kNoSource = -1;

  Session(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team);

  const Transformer& model() const { return *model_; }

  // Forgets the last batch. Sources must not be empty. Returns the last hidden states [S, D], source after source;
  // valid until the next call. Throws InputError for a token outside the vocabulary. Only for models with an encoder.
  const Tensor& encode(std::span<const TokenIds> sources);
  // Forgets the targets.
  void close_targets();

  // A new target, without tokens, for a source of this batch.
  int open_target(int source);
  // Its cache is free for others.
  void close_target(int target);

  struct TargetTokens {
    int target = -1;
    std::span<const std::int32_t> tokens;
  };
  enum class LogitsOf { last_token, every_token };
  // Appends tokens, at least one each, to targets and returns the logits after each target's last one [targets, V], or
  // after each token [T, V], in the order given; valid, and the caller's to change, until the next call. Throws
  // InputError for a token outside the vocabulary, and for one beyond the model's positions.
  Tensor decode(std::span<const TargetTokens> inputs, LogitsOf which = LogitsOf::last_token);

  // Sees every node of all graphs as it has run; none if empty.
  void set_observer(const NodeObserver& observer);

  // Time spent in encode() and decode() since the last reset.
  double encode_seconds() const { return encode_seconds_; }
  double decode_seconds() const { return decode_seconds_; }
  void reset_times() { encode_seconds_ = decode_seconds_ = 0; }

  // For measurements of single nodes, by the graphs of the model; null where it has none.
  RunState* encoder_state() { return encoder_state_ ? &*encoder_state_ : nullptr; }
  RunState* decoder_state() { return decoder_state_ ? &*decoder_state_ : nullptr; }
  RunState* output_state() { return output_state_ ? &*output_state_ : nullptr; }

 private:
  Tensor last_rows(const Tensor& hidden);

  std::shared_ptr<const Transformer> model_;
  std::optional<RunState> encoder_state_;
  std::optional<RunState> decoder_state_;
  std::optional<RunState> output_state_;
  TokenIds ids_;
  std::vector<Tensor> decoder_inputs_;  // token ids, then the memories of the encoded batch
  std::vector<float> last_rows_;
  double encode_seconds_ = 0;
  double decode_seconds_ = 0;
  std::vector<int> source_of_;  // by target, which is a slot of the decoder's cache index
};

}  // namespace encdec
