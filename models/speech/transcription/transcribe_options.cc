#include "encdec/models/speech/transcription/transcribe_options.h"

#include <fmt/format.h>

namespace encdec {

std::string TranscribeRange::expected() const {
  return fmt::format("{}a number from {} to {}", or_zero ? "0, or " : "", min, max);
}

std::optional<SpeechRules> speech_rules_named(std::string_view name) {
  if (name == "openai") return SpeechRules::openai;
  if (name == "transformers") return SpeechRules::transformers;
  return std::nullopt;
}

TranscribeOptions TranscribeOptions::of(SpeechRules rules) {
  TranscribeOptions options{.rules = rules};
  if (rules == SpeechRules::openai) return options;
  options.temperatures = {0.0};
  options.beam_size = options.best_of = 1;
  options.condition_on_previous_text = false;
  options.prepend_punctuations = "\"'“¡¿([{-";
  options.compression_ratio_threshold = options.logprob_threshold = options.no_speech_threshold = std::nullopt;
  return options;
}

std::vector<double> fallback_temperatures(double first, std::optional<double> step) {
  std::vector<double> temperatures = {first};
  if (!step) return temperatures;
  // numpy.arange(first, 1 + 1e-6, step).
  for (int i = 1;; ++i) {
    const double next = first + i * *step;
    if (next >= 1.0 + 1e-6) return temperatures;
    temperatures.push_back(next);
  }
}

}  // namespace encdec
