#pragma once

#include <optional>
#include <span>
#include <vector>

#include "encdec/models/generation/option_row.h"
#include "encdec/speech/transcript/transcript_format.h"
#include "encdec/speech/transcription/transcribe_options.h"

namespace encdec {

// Return the rows of all options that callers may set, each once, without batch_size, workers and callbacks.
std::span<const OptionRow<TranscribeOptions>> transcribe_settings();
std::span<const OptionRow<TranscriptLineOptions>> transcript_line_settings();

// Increment of fallback_temperatures(); 0 for none.
inline constexpr OptionRange kTemperatureIncrement{1e-3, 100, true};

// Returns first, first + step, ... up to 1, as openai/whisper's command counts. Without a step, or with a step of 0,
// returns only `first`.
std::vector<double> fallback_temperatures(double first, std::optional<double> step);

}  // namespace encdec
