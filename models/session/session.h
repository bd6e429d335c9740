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
#include "encdec/models/session/source_key_values.h"

namespace encdec {

// Encodes sources with one model, and decodes any number of targets per source, one or more tokens
// at a time. Sessions share the model's weights. Not thread-safe.
// Order of calls, in which sources and targets may interleave:
//   with an encoder:    encode TARGET* close_source
//   without an encoder: TARGET*
//   TARGET:             open_target (decode | fork_target | reorder_targets)* close_target
class Session : public ReadingSession {
 public:
  // Argument of open_target() in a decoder-only model.
  static constexpr int kNoSource = -1;

  // `draft` is the draft model of speculative decoding, or null.
  Session(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team,
          std::shared_ptr<const Transformer> draft = nullptr);

  // Returns the draft model's session, or null. The draft session has separate targets. If the draft model has no
  // encoder, the draft session uses the sources of this session.
  Session* draft() { return draft_.get(); }

  // Encode sources as ReadingSession does and, if the model generates targets, open them: Encoded::sources contains the
  // sources' numbers in the given order. After an exception no source is open.
  Encoded encode(std::span<const TokenIds> sources) { return encode(sources, ReadOptions()); }
  Encoded encode(std::span<const TokenIds> sources, const ReadOptions& reading) {
    return opened(ReadingSession::encode(sources, reading));
  }
  Encoded encode(std::span<const Tensor> sources, std::span<const Tensor> rows = {}) {
    return opened(ReadingSession::encode(sources, rows));
  }
  // Closes a source. REQUIRES: all of its targets are closed.
  void close_source(int source);

  // Opens an empty target, and returns its number. REQUIRES: `source` is open or kNoSource.
  int open_target(int source);
  // Opens a target with the tokens of `target`, and returns the new target's number. Both targets share the cache.
  int fork_target(int target);
  // Replaces the tokens of targets[i] by the tokens of parents[i], for all i at once: targets {4,
  // 5} with parents {5, 4} are swapped. REQUIRES: all are forks of one target.
  void reorder_targets(std::span<const int> targets, std::span<const int> parents);
  void close_target(int target);

  void reset();

  struct TargetTokens {
    static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

    int target = -1;                       // from open_target() or fork_target()
    std::span<const std::int32_t> tokens;  // at least one
    std::size_t logits = 1;                // number of last tokens for which to return logits; kAll for all
    // Other tokens get the logit -infinity. Null: no shortlist.
    const VocabularyShortlist* shortlist = nullptr;

    std::size_t rows() const { return std::min(logits, tokens.size()); }  // rows of logits
  };
  // Appends tokens to targets. Returns the requested logits [rows, V] in the order of `inputs`,
  // valid until the next decode(); the caller may change them. Throws InputError for a token
  // outside the vocabulary or after the last position. After an exception, the targets can only be
  // closed.
  Tensor decode(std::span<const TargetTokens> inputs);
  // Truncates a target to `length` tokens. REQUIRES: no fork contains the removed tokens.
  void shorten_target(int target, int length);

  // The observers are in session_observers.cc.
  // Whether decode() keeps its cross-attention weights.
  enum class SourceAttention { forget, keep };
  // Sets whether later decode() calls keep the weights for source_attention(), if the model has
  // cross-attention. Replaces any observer of the last layer's cross-attention.
  void set_source_attention(SourceAttention mode);
  // Returns the last layer's cross-attention for the last token of inputs[input] in the last decode(): one weight per
  // source token, from TransformerConfig::alignment_head or from the mean of all heads. REQUIRES: the mode was `keep`
  // before that decode().
  std::span<const float> source_attention(std::size_t input) const;

  // Calls `observer` with the attention weights of each row and head of a layer in later runs,
  // until the result is destroyed. REQUIRES: the model has this layer and this kind of attention.
  using Observation = std::shared_ptr<void>;
  [[nodiscard]] Observation observe_attention(AttentionKind kind, int layer, AttentionObserver observer);

  // Observes the outputs of all nodes in later runs. An empty observer ends the observation.
  void set_observer(const NodeObserver& observer);
  // Observes the times of all nodes in later runs. An empty observer ends the observation.
  void set_run_observer(const NodeRunObserver& observer);

  // Return the seconds since the last reset_times(), here and in draft().
  double encode_seconds() const { return encode_seconds_ + (draft_ ? draft_->encode_seconds() : 0); }
  double decode_seconds() const { return decode_seconds_ + (draft_ ? draft_->decode_seconds() : 0); }
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
  std::vector<std::vector<float>> attention_of_row_;  // cross-attention weights, by row of the decoder
  Tensor shortlisted_logits_, spread_logits_;
  TokenIds ids_;
  std::vector<Tensor> decoder_inputs_;  // token ids, then cross-attention keys and values by layer
  std::vector<float> wanted_rows_;
  double decode_seconds_ = 0;
  SourceKeyValues source_key_values_;
  const SourceKeyValues* key_values_ = &source_key_values_;  // in a draft model without encoder, the other session's
  std::vector<int> encoded_sources_;
  std::vector<int> source_of_;  // by target, whose number is its slot in the decoder's cache index
};

}  // namespace encdec
