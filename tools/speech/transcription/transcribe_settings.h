#pragma once

#include <optional>
#include <span>
#include <vector>

#include "encdec/models/generation/option_row.h"
#include "encdec/speech/transcript/transcript_format.h"
#include "encdec/speech/transcription/transcribe_options.h"

namespace encdec {

// These functions return all options except batch_size, workers and callbacks.
std::span<const OptionRow<TranscribeOptions>> transcribe_settings();
std::span<const OptionRow<TranscriptLineOptions>> transcript_line_settings();

// Range of `step` below. `true` means that 0 is also allowed.
inline constexpr OptionRange kTemperatureIncrement{1e-3, 100, true};

// Returns first, first + step, ... up to 1, like openai/whisper. Returns only `first` if `step` is unset or 0.
std::vector<double> fallback_temperatures(double first, std::optional<double> step);

}  // namespace encdec
