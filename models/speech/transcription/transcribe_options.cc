#include "encdec/models/speech/transcription/transcribe_options.h"

namespace encdec {

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

}  // namespace encdec
