#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "encdec/models/network/transformer.h"
#include "encdec/models/network/vocabulary_shortlist.h"
#include "encdec/models/session/attention_map.h"
#include "encdec/models/session/source_memory.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// One stream of work through a model: encodes sources, and decodes any number of targets for them, one token or many at
// a time. Sources and targets come and go independently of each other. For one thread at a time; the weights are
// shared, the activations and caches are its own.
class Session {
 public:
  // A target without a source: a decoder-only model's.
  static constexpr int kNoSource = -1;

  // Without sources and targets; the team does the work.
  Session(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team);

  const Transformer& model() const { return *model_; }  // what it runs
  ThreadTeam& team() { return *team_; }                 // who shares the work

  // What the encoder made of sources.
  struct Encoded {
    Tensor hidden;                 // last hidden states [S, D], source after source
    std::span<const int> sources;  // their numbers, in the order given; none in an encoder-only model
  };
  // Reads sources. What it returns is valid until the next call; the sources are open until they are closed. Throws
  // InputError for a source without tokens and for a token outside the vocabulary; then no source is opened. Only for
  // models with an encoder.
  Encoded encode(std::span<const TokenIds> sources);
  // The same for sound: frames, float32 [F, mel bands] each. Throws InputError as check_frames(), and where there are
  // more frames than the model has positions.
  Encoded encode(std::span<const Tensor> sources);
  // Throws InputError unless `frames` is float32 [F, mel bands], where F is a positive multiple of kFramesPerRow.
  void check_frames(const Tensor& frames) const;
  // Its memory is free for others; its targets must be closed.
  void close_source(int source);

  // A new target, without tokens, for an open source.
  int open_target(int source);
  // A new target that begins as another one does; they share what they have in common.
  int fork_target(int target);
  // Target targets[i] gets the tokens that parents[i] has now. All are forks of one target.
  void reorder_targets(std::span<const int> targets, std::span<const int> parents);
  // Its cache is free for others.
  void close_target(int target);

  // Closes all sources and targets.
  void reset();

  // What a target goes on with.
  struct TargetTokens {
    int target = -1;                       // as open_target() numbered it
    std::span<const std::int32_t> tokens;  // one at least
  };
  // Which logits are wanted.
  enum class LogitsOf { last_token, every_token };
  // Appends tokens, at least one each, to targets and returns the logits after each target's last one [targets, V], or
  // after each token [T, V], in the order given; valid, and the caller's to change, until the next call. Throws
  // InputError for a token outside the vocabulary, and for one beyond the model's positions.
  Tensor decode(std::span<const TargetTokens> inputs, LogitsOf which = LogitsOf::last_token);

  // From now on decode() gives logits other than -infinity only to these tokens; null for all. It must outlive its use.
  void set_shortlist(const VocabularyShortlist* shortlist);

  // Whether decode() keeps what source_attention() tells.
  enum class SourceAttention { forget, keep };
  // From now on.
  void set_source_attention(SourceAttention mode);
  // How the last token of input number `input` of the last decode() divides its attention among the tokens of its
  // source: the mean of the heads of the last layer.
  std::span<const float> source_attention(std::size_t input) const;

  // Is told how each row of an encode() or decode() divides its attention in a layer, head by head; none if empty. The
  // model must have such an attention.
  Edge observe_attention(AttentionKind kind, int layer, AttentionObserver observer);
  // No more of what that has returned.
  void forget_attention(AttentionKind kind, Edge node) noexcept;

  // Sees every node of all graphs as it has run; none if empty.
  void set_observer(const NodeObserver& observer);
  // Is told when every node of all graphs ran; none if empty.
  void set_run_observer(const NodeRunObserver& observer);

  // Time spent in encode() and decode() since the last reset.
  double encode_seconds() const { return encode_seconds_; }
  double decode_seconds() const { return decode_seconds_; }      // likewise
  void reset_times() { encode_seconds_ = decode_seconds_ = 0; }  // both to 0

 private:
  Encoded run_encoder(const Tensor& input);
  int remember_source(int target, int source);
  Tensor last_rows(const Tensor& hidden);
  Tensor logits_of(const Tensor& hidden);

  std::shared_ptr<const Transformer> model_;
  std::shared_ptr<ThreadTeam> team_;
  std::optional<RunState> encoder_state_;
  std::optional<RunState> decoder_state_;
  std::optional<RunState> output_state_;
  std::vector<std::vector<float>> attention_of_row_;  // of the decoder's
  const VocabularyShortlist* shortlist_ = nullptr;
  std::optional<RunState> shortlist_state_;
  Tensor spread_logits_;
  TokenIds ids_;
  std::vector<float> frames_;
  std::vector<Tensor> decoder_inputs_;  // token ids, then the memories of the sources
  std::vector<float> last_rows_;
  double encode_seconds_ = 0;
  double decode_seconds_ = 0;
  SourceMemory source_memory_;
  std::vector<int> encoded_sources_;
  std::vector<int> source_of_;  // by target, which is a slot of the decoder's cache index
};

}  // namespace encdec
