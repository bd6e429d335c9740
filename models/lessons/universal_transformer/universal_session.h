#pragma once

#include <memory>
#include <span>
#include <vector>

#include "encdec/models/lessons/universal_transformer/depth_recurrence.h"
#include "encdec/models/session/source_memory.h"

namespace encdec {

// One stream of work through a Universal Transformer: a batch of sources, and a target for each of them that grows by
// one token or many at a time. For one thread at a time; the weights are shared, the activations and caches its own.
// Each sequence gets the same result, bit by bit, whatever its neighbours are.
class UniversalSession {
 public:
  using TokenIds = std::vector<std::int32_t>;  // of one text

  // Without sources; the team does the work.
  explicit UniversalSession(std::shared_ptr<const UniversalTransformer> model,
                            const std::shared_ptr<ThreadTeam>& team = std::make_shared<ThreadTeam>());

  // Reads a new batch of sources, none of them empty, and forgets the one before with its targets. Throws InputError.
  DepthRecurrence::Result encode(std::span<const TokenIds> sources);

  // Appends tokens, at least one each, to the target of every source and returns the logits after each token [T, V],
  // target after target; valid until the next call. Throws InputError. What it gives for a token does not depend, bit
  // by bit, on how many are given at once. All steps run also where positions halt, since at every step later tokens
  // attend to them.
  Tensor decode(std::span<const TokenIds> tokens);

  // Sources and their whole targets at once (teacher forcing): the bits of encode() and decode(), but with adaptive
  // halting the decoder stops early too, so that no tokens can follow.
  Tensor forward(std::span<const TokenIds> sources, std::span<const TokenIds> targets);

  // What became of the rows of the last decode() or forward(); valid until the next one.
  const DepthRecurrence::Result& decoded() const { return decoded_; }

 private:
  Tensor run_decoder(std::span<const TokenIds> tokens, DepthRecurrence::End end);
  Tensor pack(std::span<const TokenIds> tokens, std::string_view what);

  std::shared_ptr<const UniversalTransformer> model_;
  RunState source_embedding_;
  DepthRecurrence encoder_;
  RunState memory_state_;
  RunState target_embedding_;
  DepthRecurrence decoder_;
  RunState output_;
  SourceMemory memory_;
  std::vector<int> sources_;
  std::vector<int> slots_;           // of the targets, in their sources' order
  TokenIds ids_;                     // of the batch, one sequence after another
  std::vector<Sequence> sequences_;  // of ids_
  DepthRecurrence::Result decoded_;
};

}  // namespace encdec
