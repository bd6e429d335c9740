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

// A window over positions, as of a convolution.
struct Window {
  Dim kernel = 1, stride = 1;

  // Returns the number of windows in a number of positions, without padding.
  Dim outputs(Dim positions) const { return positions < kernel ? 0 : (positions - kernel) / stride + 1; }
};

// An input of frames: of sound features, or of one sample each.
struct FrameOptions {
  Dim width = 0;                     // numbers in a frame; 0 if the stack reads tokens
  Dim per_row = 1;                   // frames from one row of the encoder to the next
  std::vector<Window> windows = {};  // by which the rows follow from samples; empty: any multiple of per_row frames
  Dim counted = 1;                   // samples at the end that fill no group of this many do not count
  bool reads_pieces = false;         // whether Transformer::front can read a sequence in pieces; see StreamingEncoder

  // Returns whether frames are samples, of which Transformer::front makes rows.
  bool reads_samples() const { return !windows.empty(); }
  // Returns the number of rows that the encoder makes of a number of frames; 0 if it cannot read that number.
  Dim rows_of(Dim frames) const;
  // Returns the smallest number of frames of which the encoder makes `rows` rows.
  Dim frames_for(Dim rows) const;
  // Returns the shapes from which the encoder makes at most `most_rows` rows, for messages; 0: any number of rows.
  std::string expected_shape(Dim most_rows = 0) const;
};

}  // namespace encdec
