#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encdec/engine/base/shape.h"

namespace encdec {

// Kind of a stack's input.
enum class SourceKind : std::uint8_t {
  tokens,  // token ids: int32 [S]
  frames,  // rows of numbers, such as log-mel frames: float32 [S * frames.per_row, frames.width]
};

// A sliding window, as of a convolution.
struct Window {
  Dim kernel = 1, stride = 1;

  // Returns the number of windows that fit in `positions`, without padding.
  Dim outputs(Dim positions) const { return positions < kernel ? 0 : (positions - kernel) / stride + 1; }
};

// An input of frames. A frame contains audio features or one sample.
struct FrameOptions {
  Dim width = 0;    // number of numbers in a frame; 0 if the stack reads tokens
  Dim per_row = 1;  // number of frames from one row of the encoder to the next
  // The windows, applied in turn, that make rows of samples. Empty: frames are not samples, and
  // their number is any multiple of per_row.
  std::vector<Window> windows = {};
  Dim counted = 1;            // an incomplete group of this many samples at the end is ignored
  bool reads_chunks = false;  // Transformer::front can read a sequence in chunks; see StreamingEncoder

  // Returns true if frames are samples, which Transformer::front converts to rows.
  bool reads_samples() const { return !windows.empty(); }
  // Returns the encoder's number of rows for `frames` frames; 0 if the encoder cannot read that number.
  Dim rows_of(Dim frames) const;
  // Returns the smallest number of frames from which the encoder computes `rows` rows.
  Dim frames_for(Dim rows) const;
  // Describes the shapes of inputs with at most `most_rows` rows (0: any number), for error messages.
  std::string expected_shape(Dim most_rows = 0) const;
};

}  // namespace encdec
