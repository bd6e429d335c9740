#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/generation/generate_options.h"
#include "encdec/speech/features/speech_spans.h"
#include "encdec/speech/transcript/transcript.h"
#include "encdec/speech/transcript/word_times.h"

namespace encdec {

// Language of the transcript.
enum class SpeechTask : std::uint8_t {
  transcribe,  // the spoken language
  translate,   // English
};

// The names, meanings and defaults are the same as in openai/whisper (transcribe.py). Recordings are decoded in
// windows. Each window starts where the text of the previous window ended. For Moonshine see MoonshineTask.
struct TranscribeOptions {
  // Code or English name ("de", "German"). If empty, the model detects the language.
  std::string language = {};
  SpeechTask task = SpeechTask::transcribe;

  // Temperatures to try until a text passes the thresholds below. Above 0, tokens are sampled.
  std::vector<double> temperatures = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
  int beam_size = 5;      // number of beams at temperature 0; 1: greedy search
  int best_of = 5;        // number of samples above temperature 0; the likeliest sample is kept
  double patience = 1.0;  // stop after patience * beam_size finished beams (Kasai et al. 2022)
  // Texts are compared by score / ((5 + length) / 6)^penalty (Wu et al. 2016). If unset: by score / length.
  std::optional<double> length_penalty = {};
  // Ids of tokens that must not be generated. -1 means all tokens that are not speech, such as brackets.
  std::vector<std::int32_t> suppress_tokens = {-1};
  // Draft tokens for greedy search, as in GenerateOptions. They affect only the speed, not the result.
  std::optional<int> num_assistant_tokens = {};
  int prompt_lookup_num_tokens = 0;
  std::uint64_t seed = 0;  // with the same seed, equal recordings have equal samples

  // Text to use as the previous text of the first window, for example with names and their spelling.
  std::string initial_prompt = {};
  bool carry_initial_prompt = false;  // whether to use initial_prompt for all windows
  // Words to put before the previous text of every window. openai/whisper has no such option.
  std::string hotwords = {};
  // Whether to use the text of previous windows as the previous text.
  bool condition_on_previous_text = true;
  // After a window that was decoded at a higher temperature than this, the previous text is dropped.
  double prompt_reset_on_temperature = 0.5;

  // A window is decoded again, at the next temperature, if its compression ratio is above this value.
  std::optional<double> compression_ratio_threshold = 2.4;
  // A window is also decoded again if its mean log-probability is below this value.
  std::optional<double> logprob_threshold = -1.0;
  // A window is skipped as silent if its no-speech probability is above this value, unless its mean
  // log-probability is above `logprob_threshold`. Unset thresholds are ignored.
  std::optional<double> no_speech_threshold = 0.6;

  // If false, each window is one segment.
  bool timestamps = true;
  // Maximum start of the first segment in a window, in seconds. If unset, there is no limit.
  std::optional<double> max_initial_timestamp = 1.0;
  bool word_timestamps = false;
  // Punctuation marks that belong to the next word, and marks that belong to the previous word.
  std::string prepend_punctuations = kPrependPunctuations;
  std::string append_punctuations = kAppendPunctuations;
  // Improbable text between silences of more than this many seconds is dropped. If unset, all text is kept.
  // REQUIRES: word_timestamps.
  std::optional<double> hallucination_silence_threshold = {};
  // Seconds to transcribe: start, end, start, end, ...; the last end may be missing.
  std::vector<double> clip_timestamps = {};

  // Silero's voice activity model, a .safetensors file. If set, only the speech that the model finds is transcribed.
  // Times still refer to the whole recording. openai/whisper has no such option.
  std::filesystem::path vad_model = {};
  VoiceActivityOptions vad = {};

  // The next two options do not change results.
  int batch_size = 0;  // number of recordings decoded together; 0: chosen for this machine
  int workers = 1;     // number of batches decoded in parallel, each by LoadOptions::threads threads

  // All callbacks except on_work run in the caller's thread. transcribe() rethrows exceptions of callbacks.

  // Called with segments as soon as they are final.
  std::function<void(std::size_t recording, std::span<const TranscriptSegment> segments)> on_segments = {};
  // Called after each window. `seconds` is how much of the recording has been transcribed.
  std::function<void(std::size_t recording, double seconds)> on_progress = {};
  // Workers call on_work after each step, one call at a time.
  std::function<void(const GenerateProgress&)> on_work = {};
};

}  // namespace encdec
