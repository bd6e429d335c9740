#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "encdec/models/network/transformer.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// Adds the time until its destruction to `total`, in seconds.
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

// Work of an encoder and of the heads that read it: the last hidden states of sources, logits of classifiers, weights
// of sparse vectors. Activations belong to the session; sessions share the weights. Not thread-safe.
class ReadingSession {
 public:
  // The threads of `team` do the work.
  ReadingSession(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team);
  ReadingSession(const ReadingSession&) = delete;
  ReadingSession& operator=(const ReadingSession&) = delete;

  const Transformer& model() const { return *model_; }  // model that the session runs
  ThreadTeam& team() { return *team_; }                 // threads that share the work

  // Result of encode().
  struct Encoded {
    Tensor hidden;                     // last hidden states [S, D], one source after another
    std::span<const int> sources;      // see Session; empty here
    std::span<const Tensor> memories;  // cross-attention keys and values, by decoder layer
    Tensor classified;                 // input of classify(): `hidden`, or the decoder's last hidden states [S, D]
  };
  // How encode() reads the sources of an encoder-only model.
  struct ReadOptions {
    // For each source, the index of its first token of the second segment (Encoding::second_segment). Empty: no source
    // has a second segment.
    std::span<const std::size_t> second_segments = {};
    // Computes the last hidden states of the first token of each source alone: Encoded::hidden is [sources, D].
    // REQUIRES: the model's configuration has gathers_rows.
    bool first_rows = false;
  };
  // Reads sources. The result is valid until the next encode(). Throws InputError for a source without tokens and for a
  // token outside the vocabulary. REQUIRES: the model has an encoder that reads tokens.
  Encoded encode(std::span<const TokenIds> sources, const ReadOptions& reading);
  // The same for sound. Each source is a tensor of frames, float32 [frames, mel bands] or [samples, 1]. `rows`, if not
  // empty, has for each source the rows that Transformer::front makes of its samples, float32 [rows, D], or an empty
  // tensor if they are not known. Throws InputError as check_frames() does, and for more frames than the model has
  // positions. REQUIRES: the model has an encoder that reads sound.
  Encoded encode(std::span<const Tensor> sources, std::span<const Tensor> rows);
  // Returns a classifier's logits for the result of the last encode(): [sources, labels], or [S, labels] if the head is
  // for tokens. Valid until the next call. REQUIRES: the model has a head, and check_end() accepts each source.
  Tensor classify(const Encoded& encoded);
  // Computes the weights [1, V] of each source of the last encode() from a masked language model's logits (see
  // SparsePooling), and calls take(number of the source, weights). The weights are valid during the call. Computes the
  // logits of a few tokens at a time. REQUIRES: the model's head is HeadKind::vocabulary, and `encoded` has all rows.
  void weigh_vocabulary(const Encoded& encoded, const std::function<void(std::size_t, const Tensor&)>& take);
  // Throws InputError unless `frames` is float32 [n, width] and the encoder can make rows of n frames (see
  // FrameOptions).
  void check_frames(const Tensor& frames) const;

 protected:
  ~ReadingSession() = default;

  std::shared_ptr<const Transformer> model_;
  std::shared_ptr<ThreadTeam> team_;
  std::optional<RunState> front_state_;
  std::optional<RunState> encoder_state_;
  std::optional<RunState> head_state_;
  double encode_seconds_ = 0;

 private:
  std::span<const Tensor> rows_of(std::span<const Tensor> sources, std::span<const Tensor> rows);
  Encoded run_encoder(std::span<const Tensor> inputs);
  Tensor pooled(const Tensor& rows, HeadPooling pooling);

  TokenIds ids_;
  TokenIds types_;       // token types
  TokenIds target_ids_;  // input of a classifier's decoder
  TokenIds rows_;        // numbers of the rows whose last hidden states are computed
  std::vector<float> frames_;
  TokenIds positions_;                   // input of the front
  std::vector<Tensor> rows_of_sources_;  // rows of the front, by source
  std::vector<float> pooled_rows_;
  std::vector<float> vocabulary_weights_;
};

}  // namespace encdec
