#pragma once

#include <memory>
#include <span>
#include <vector>

#include "encdec/models/network/transformer.h"

namespace encdec {

// An encoder that reads a recording piece by piece (Moonshine Streaming; FrameOptions::reads_pieces). It keeps what
// later rows need: the last inputs of each convolution, and the last keys and values of each layer. So no row is
// computed twice. A row is final once the rows that its layers read ahead are known: encoders of 6 layers with windows
// [16, 4] and [16, 0] read 12 rows (240 ms) ahead. All rows have the same bits as in Session::encode(),
// for any sizes of the pieces. Not thread-safe. Order of calls: ((push | end_here)* finish)*
class StreamingEncoder {
 public:
  // The threads of `team` do the work. Throws ConfigError if the model has no such encoder.
  StreamingEncoder(std::shared_ptr<const Transformer> model, std::shared_ptr<ThreadTeam> team);

  // Reads the next samples, at 16,000 per second and between -1 and 1, and appends the rows that are final now: width()
  // floats for each. Throws BackendError if a matrix product fails; then only a new encoder can continue.
  void push(std::span<const float> samples, std::vector<float>& rows);
  // Appends the last rows of the recording as if it ended here; there are ceil(samples / 320) in all. Zeros complete
  // the last row's samples. The next push() goes on without these rows.
  void end_here(std::vector<float>& rows);
  // Does the same, but the next push() begins another recording.
  void finish(std::vector<float>& rows);

  Dim width() const { return model_->config.encoder.model_dim; }  // D

 private:
  void run(RunState& state, std::span<float> samples, int end, std::vector<float>& rows);

  std::shared_ptr<const Transformer> model_;
  std::shared_ptr<ThreadTeam> team_;
  RunState state_;
  RunState ending_;             // for end_here()
  std::vector<float> samples_;  // samples that no run has read
  int read_ = 0;                // number of rows of samples that runs have read
  int lag_ = 0;                 // number of rows that the layers read ahead
};

}  // namespace encdec
