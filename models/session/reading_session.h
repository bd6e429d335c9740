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

// Adds the lifetime of this object, in seconds, to `total`.
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

// Runs an encoder and the heads on top of the encoder. Computes last hidden states, a classifier's logits, and sparse
// vectors. Sessions share the model's weights. Not thread-safe.
class ReadingSession {
 public:
  // The threads of `team` share the work.
  ReadingSession(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team);
  ReadingSession(const ReadingSession&) = delete;
  ReadingSession& operator=(const ReadingSession&) = delete;

  const Transformer& model() const { return *model_; }
  ThreadTeam& team() { return *team_; }

  struct Encoded {
    Tensor hidden;                       // last hidden states [S, D] of all sources in sequence
    std::span<const int> sources;        // see Session::encode(); empty here
    std::span<const Tensor> key_values;  // cross-attention keys and values, by decoder layer
    Tensor classified;                   // input of classify(): `hidden`, or the decoder's last hidden states [S, D]
  };
  // How encode() reads the sources of an encoder-only model.
  struct ReadOptions {
    // For each source, the index of the first token of its second segment
    // (Encoding::second_segment). Empty: there are no second segments.
    std::span<const std::size_t> second_segments = {};
    // Computes only each source's first row: Encoded::hidden is [sources, D]. REQUIRES: the model's
    // configuration has gathers_rows.
    bool first_rows = false;
  };
  // Encodes tokens. The result is valid until the next encode(). Throws InputError for a source
  // without tokens and for a token outside the vocabulary.
  Encoded encode(std::span<const TokenIds> sources, const ReadOptions& reading);
  // Encodes audio: frames, float32 [frames, mel bands] or [samples, 1]. `rows`, if not empty, contains the results of
  // Transformer::front, float32 [rows, D], or an empty tensor for a source whose result is not known. Throws the
  // InputError of check_frames(), and InputError for more frames than positions.
  Encoded encode(std::span<const Tensor> sources, std::span<const Tensor> rows);
  // Returns a classifier's logits for the last encode(): [sources, labels], or [S, labels] for
  // tokens. Valid until the next call. REQUIRES: there is a head, and check_end() passes.
  Tensor classify(const Encoded& encoded);
  // Computes the sparse vector [1, V] of each source of the last encode() (see SparsePooling), and
  // calls take(index of the source, vector). The vector is valid during the call. REQUIRES: the
  // head is HeadKind::vocabulary, and `encoded` has all rows.
  void weigh_vocabulary(const Encoded& encoded, const std::function<void(std::size_t, const Tensor&)>& take);
  // Throws InputError unless `frames` is float32 [n, width] and n suits the encoder (FrameOptions).
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
  TokenIds types_;
  TokenIds target_ids_;  // input of a classifier's decoder
  TokenIds rows_;        // indices of the rows whose last hidden states are computed
  std::vector<float> frames_;
  TokenIds positions_;                   // second input of Transformer::front
  std::vector<Tensor> rows_of_sources_;  // results of Transformer::front, by source
  std::vector<float> pooled_rows_;
  std::vector<float> vocabulary_weights_;
};

}  // namespace encdec
