#pragma once

#include "encdec/models/network/config.h"

namespace encdec {

// Log-mel frames of 10 ms in one row of the encoder.
inline constexpr Dim kWhisperFramesPerRow = 2;

// The sizes in which Whisper models (Radford et al. 2023) differ. The defaults are those of tiny.en.
struct WhisperSizes {
  Dim mel_bands = 80;
  Dim model_dim = 384;
  Dim vocabulary = 51864;
  int encoder_layers = 4;
  Dim encoder_heads = 6;
  Dim encoder_hidden_dim = 1536;
  Dim encoder_positions = 1500;
  int decoder_layers = 4;
  Dim decoder_heads = 6;
  Dim decoder_hidden_dim = 1536;
  Dim decoder_positions = 448;
};

// Returns the configuration of a Whisper model. Everything but the sizes is the same in all models. transformer.h lists
// the names of its weights.
TransformerConfig whisper_config(const WhisperSizes& sizes);

}  // namespace encdec
