#pragma once

#include <memory>
#include <span>
#include <vector>

#include "encdec/models/network/transformer.h"

namespace encdec {

// Encodes a recording in chunks (Moonshine Streaming; FrameOptions::reads_chunks). Keeps the last
// inputs of each convolution and the last keys and values of each layer. A row is final once the
// rows that its layers look ahead at are known: with 6 layers of windows [16, 4] and [16, 0], 12
// rows (240 ms). Rows are bitwise identical to Session::encode(), for any chunk sizes. Not
// thread-safe.
// Order of calls: ((push | end_here)* finish)*
class StreamingEncoder {
 public:
  // Throws ConfigError if the model cannot encode in chunks.
  StreamingEncoder(std::shared_ptr<const Transformer> model, std::shared_ptr<ThreadTeam> team);

  // Reads samples, at 16 kHz and between -1 and 1, and appends the rows that are now final, width()
  // floats each. After a BackendError only a new encoder can continue.
  void push(std::span<const float> samples, std::vector<float>& rows);
  // Appends the remaining rows as if the recording ended here: ceil(samples / 320) in total. The
  // next push() continues as if end_here() had not been called.
  void end_here(std::vector<float>& rows);
  // Like end_here(), but the next push() starts a new recording.
  void finish(std::vector<float>& rows);

  Dim width() const { return model_->config.encoder.model_dim; }  // D

 private:
  void run(RunState& state, std::span<float> samples, int end, std::vector<float>& rows);

  std::shared_ptr<const Transformer> model_;
  std::shared_ptr<ThreadTeam> team_;
  RunState state_;
  RunState ending_;             // for end_here()
  std::vector<float> samples_;  // samples that are not yet a whole row
  int read_ = 0;                // number of rows of samples that run() has read
  int lag_ = 0;                 // number of rows that the layers look ahead
};

}  // namespace encdec
