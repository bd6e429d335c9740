#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "encdec/models/network/vocabulary_shortlist.h"
#include "encdec/models/session/attention_map.h"
#include "encdec/models/session/reading_session.h"
#include "encdec/models/session/source_memory.h"

namespace encdec {

// A stream of work through one model: encodes sources, and decodes any number of targets for each source, one or more
// tokens at a time. Activations and caches belong to the session; sessions share the weights. Not thread-safe.
// Sources can be opened and closed while others are open, and so can targets. A source has to stay open until all its
// targets are closed.
// Order of calls:
//   with an encoder:    encode (open_target (decode | fork_target | reorder_targets)* close_target)* close_source
//   without an encoder: open_target (decode | fork_target | reorder_targets)* close_target
class Session : public ReadingSession {
 public:
  // Passed to open_target() for a target without a source, as in a decoder-only model.
  static constexpr int kNoSource = -1;

  // Makes a session without sources and targets. The threads of `team` do the work.
  // `draft` is a model that guesses the next tokens of this one, or null.
  Session(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team,
          std::shared_ptr<const Transformer> draft = nullptr);

  // Returns the session of the model that guesses, with sources and targets of its own; null if there is none.
  Session* draft() { return draft_.get(); }

  // The same as in ReadingSession, and opens the sources, until close_source() or reset(), if the model writes targets:
  // Encoded::sources has their numbers, in the order given. After an exception no source is open.
  Encoded encode(std::span<const TokenIds> sources) { return encode(sources, ReadOptions()); }
  Encoded encode(std::span<const TokenIds> sources, const ReadOptions& reading) {
    return opened(ReadingSession::encode(sources, reading));
  }
  Encoded encode(std::span<const Tensor> sources, std::span<const Tensor> rows = {}) {
    return opened(ReadingSession::encode(sources, rows));
  }
  // Closes a source; its memory can then hold other sources. REQUIRES: all targets of the source are closed.
  void close_source(int source);

  // Opens a target without tokens and returns its number. REQUIRES: `source` is open, or kNoSource if the model has no
  // encoder.
  int open_target(int source);
  // Opens a target that begins with the tokens of `target`, and returns its number. The two share the cache of these
  // tokens.
  int fork_target(int target);
  // Replaces the tokens of targets[i] by those of parents[i], for all i at once. Example: targets {4, 5} with parents
  // {5, 4} exchange their tokens. REQUIRES: all targets and parents are forks of one target.
  void reorder_targets(std::span<const int> targets, std::span<const int> parents);
  // Closes a target; its cache can then hold other targets.
  void close_target(int target);

  // Closes all sources and targets.
  void reset();

  // Tokens to append to a target.
  struct TargetTokens {
    static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

    int target = -1;                       // number from open_target() or fork_target()
    std::span<const std::int32_t> tokens;  // at least one
    std::size_t logits = 1;                // number of last tokens whose logits are wanted; kAll for all
    // Restriction of the logits: all tokens that it leaves out get -infinity. Null for none.
    const VocabularyShortlist* shortlist = nullptr;

    std::size_t rows() const { return std::min(logits, tokens.size()); }  // number of rows of logits
  };
  // Appends tokens to targets. Returns the logits [rows, V] that follow the tokens whose logits are wanted, in the
  // order of `inputs`. The logits are valid until the next decode(); the caller may change them. Throws InputError for
  // a token outside the vocabulary, and for a token after the model's last position. After any exception the targets of
  // `inputs` can only be closed, since some of their tokens may not be cached. REQUIRES: each input has at least one
  // token.
  Tensor decode(std::span<const TargetTokens> inputs);
  // Drops the last tokens of a target, so that `length` of them are left. REQUIRES: no fork has the dropped tokens.
  void shorten_target(int target, int length);

  // The functions of observers are in session_observers.cc.
  // Treatment of the attention to the source in decode().
  enum class SourceAttention { forget, keep };
  // Makes later calls of decode() keep or forget the attention to the source, which source_attention() returns.
  // Replaces any observer of the cross-attention in the last layer. Has no effect in a model without cross-attention.
  void set_source_attention(SourceAttention mode);
  // Returns the attention of inputs[input] of the last decode(), for its last token: one weight for each source token,
  // as the mean over the heads of the decoder's last layer, or that of TransformerConfig::alignment_head.
  // REQUIRES: the last set_source_attention() before that decode() was `keep`.
  std::span<const float> source_attention(std::size_t input) const;

  // Observes the attention of a layer in later calls of encode() and decode(), until the result is destroyed:
  // `observer` gets the weights of each row and head. REQUIRES: the model has this layer and this kind of attention.
  using Observation = std::shared_ptr<void>;
  [[nodiscard]] Observation observe_attention(AttentionKind kind, int layer, AttentionObserver observer);

  // Observes the output of every node of all graphs, in later runs. An empty observer ends the observation.
  void set_observer(const NodeObserver& observer);
  // Observes when every node of all graphs runs, in later runs. An empty observer ends the observation.
  void set_run_observer(const NodeRunObserver& observer);

  // Returns the seconds spent in encode() since the last reset_times(), here and in draft().
  double encode_seconds() const { return encode_seconds_ + (draft_ ? draft_->encode_seconds() : 0); }
  // The same for decode().
  double decode_seconds() const { return decode_seconds_ + (draft_ ? draft_->decode_seconds() : 0); }
  // Sets both to 0.
  void reset_times() {
    encode_seconds_ = decode_seconds_ = 0;
    if (draft_) draft_->reset_times();
  }

 private:
  Encoded opened(Encoded encoded);
  int remember_source(int target, int source);
  struct ObservedAttention;
  ObservedAttention attention_of(AttentionKind kind, int layer);
  Tensor wanted_rows(const Tensor& hidden, std::span<const TargetTokens> inputs);
  Tensor logits_of(const Tensor& hidden, std::span<const TargetTokens> inputs);

  std::unique_ptr<Session> draft_;
  std::optional<RunState> decoder_state_;
  std::optional<RunState> output_state_;
  std::vector<std::vector<float>> attention_of_row_;  // mean attention to the source, by row of the decoder
  Tensor shortlisted_logits_, spread_logits_;
  TokenIds ids_;
  std::vector<Tensor> decoder_inputs_;  // token ids, then the memories of the sources
  std::vector<float> wanted_rows_;
  double decode_seconds_ = 0;
  SourceMemory source_memory_;
  const SourceMemory* memory_ = &source_memory_;  // or that of the session whose draft() this is
  std::vector<int> encoded_sources_;
  std::vector<int> source_of_;  // by target; a target's number is its slot in the decoder's cache index
};

}  // namespace encdec
