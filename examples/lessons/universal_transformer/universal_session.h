#pragma once

#include <memory>
#include <span>
#include <vector>

#include "encdec/models/session/source_key_values.h"
#include "universal_transformer/depth_recurrence.h"

namespace lessons {
using namespace encdec;

// A stream of work through a Universal Transformer: a batch of sources, and one target for each source, which grows by
// one or more tokens at a time. Activations and caches belong to the session; sessions share the weights. For one
// thread at a time.
// A sequence gets the same result, bit by bit, whatever other sequences are in the batch.
// Order of calls: (encode decode* | forward)*
class UniversalSession {
 public:
  using TokenIds = std::vector<std::int32_t>;  // tokens of one text

  // Makes a session without sources. `team` does the work.
  explicit UniversalSession(std::shared_ptr<const UniversalTransformer> model,
                            const std::shared_ptr<ThreadTeam>& team = std::make_shared<ThreadTeam>());

  // Reads a new batch of sources, each of at least one token, and replaces the previous batch and its targets. Throws
  // InputError for an empty batch, a source without tokens and a token outside the vocabulary; there are no sources
  // then.
  DepthRecurrence::Result encode(std::span<const TokenIds> sources);

  // Appends tokens to the target of every source, at least one token each. Returns the logits after every token [T, V],
  // one target after another; they are valid until the next call.
  // The logits of a token do not depend, bit by bit, on how many tokens a call appends. All steps run, even for
  // positions that have halted, since at every step later tokens attend to them.
  // Throws InputError unless there is one target for each source, with at least one token, all in the vocabulary. The
  // targets are then unchanged.
  Tensor decode(std::span<const TokenIds> tokens);

  // Reads sources and their whole targets at once (teacher forcing). The result is bitwise identical to encode() and
  // then decode(). With adaptive halting the decoder stops early, so decode() cannot append tokens afterwards. Throws
  // InputError as encode() and decode() do.
  Tensor forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets);

  // Returns what the decoder computed for each row in the last decode() or forward(); valid until the next call.
  const DepthRecurrence::Result& decoded() const { return decoded_; }

 private:
  Tensor run_decoder(std::span<const TokenIds> tokens, DepthRecurrence::End end);
  Tensor pack(std::span<const TokenIds> tokens, std::string_view what);

  std::shared_ptr<const UniversalTransformer> model_;
  RunState source_embedding_;
  DepthRecurrence encoder_;
  RunState key_value_state_;
  RunState target_embedding_;
  DepthRecurrence decoder_;
  RunState output_;
  SourceKeyValues key_values_;
  std::vector<int> sources_;
  std::vector<int> slots_;           // targets, in the order of their sources
  TokenIds ids_;                     // tokens of the batch, one sequence after another
  std::vector<Sequence> sequences_;  // rows of the sequences in ids_
  DepthRecurrence::Result decoded_;
};

}  // namespace lessons
