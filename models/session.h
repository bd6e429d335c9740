#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/engine/executor.h"
#include "encdec/models/config.h"

namespace encdec {

// A Transformer ready to run: the graphs of figure 1 with their weights. Read-only, shared by all sessions.
struct EncoderDecoder {
  // Throws WeightError or ShapeError if the weights do not fit the configuration.
  EncoderDecoder(const TransformerConfig& config_, const WeightScope& weights);

  TransformerConfig config;
  Executor encoder;
  Executor decoder;
};

using TokenIds = std::vector<std::int32_t>;

// One stream of work through a model: encodes a batch of sources, then decodes any number of targets for them, one
// token or many at a time. For one thread at a time; the weights are shared, the activations and caches are its own.
class Session {
 public:
  Session(std::shared_ptr<const EncoderDecoder> model, const std::shared_ptr<ThreadTeam>& team);

  const EncoderDecoder& model() const { return *model_; }

  // Forgets the last batch. Sources must not be empty. Returns the last hidden states [S, D], source after source;
  // valid until the next call. Throws InputError for a token outside the vocabulary.
  const Tensor& encode(std::span<const TokenIds> sources);

  // A new target, without tokens, for a source of this batch.
  int open_target(int source);
  // Its cache is free for others.
  void close_target(int target);

  struct TargetTokens {
    int target = -1;
    std::span<const std::int32_t> tokens;
  };
  // Appends tokens to targets and returns the logits [T, V] after each of them, in the order given; valid, and the
  // caller's to change, until the next call. Throws InputError for a token outside the vocabulary.
  Tensor decode(std::span<const TargetTokens> inputs);

  // Sees every node of both graphs as it has run; none if empty.
  void set_observer(const NodeObserver& observer);

  // Time spent in encode() and decode() since the last reset.
  double encode_seconds() const { return encode_seconds_; }
  double decode_seconds() const { return decode_seconds_; }
  void reset_times() { encode_seconds_ = decode_seconds_ = 0; }

  // For measurements of single nodes.
  RunState& encoder_state() { return encoder_state_; }
  RunState& decoder_state() { return decoder_state_; }

 private:
  std::shared_ptr<const EncoderDecoder> model_;
  RunState encoder_state_;
  RunState decoder_state_;
  TokenIds ids_;
  std::vector<Tensor> decoder_inputs_;  // token ids, then the memories of the encoded batch
  double encode_seconds_ = 0;
  double decode_seconds_ = 0;
  std::vector<int> source_of_;  // by target, which is a slot of the decoder's cache index
};

}  // namespace encdec
