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
  transcribe,  // the language that is spoken
  translate,   // English
};

// How to transcribe. Names, meanings and defaults are those of openai/whisper's command (transcribe.py). A recording is
// decoded in windows of the model's length; each window begins where the text of the previous one ended. MoonshineTask
// says which options apply to Moonshine.
struct TranscribeOptions {
  // Spoken language, as a code or an English name ("de", "German"). If empty, the model detects it from the first
  // window. English-only models accept only English.
  std::string language = {};
  SpeechTask task = SpeechTask::transcribe;

  // Temperatures to try in this order until a window's text passes the thresholds below. 0 is greedy or beam search;
  // above 0 tokens are drawn.
  std::vector<double> temperatures = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
  int beam_size = 5;      // at temperature 0; 1 for greedy search
  int best_of = 5;        // number of samples above temperature 0; the likeliest is kept
  double patience = 1.0;  // beam search stops after patience * beam_size finished beams (Kasai et al. 2022)
  // Penalty from 0 to 1 for comparing beams or samples of different lengths: score / ((5 + length) / 6)^penalty (Wu et
  // al. 2016); if unset, score / length.
  std::optional<double> length_penalty = {};
  // Token ids never to generate; -1 stands for all tokens that are not speech, such as brackets and notes.
  std::vector<std::int32_t> suppress_tokens = {-1};
  // Guesses for greedy search, which change only the time: as in GenerateOptions.
  std::optional<int> num_assistant_tokens = {};
  int prompt_lookup_num_tokens = 0;
  // Seed of the random numbers; equal recordings get equal samples.
  std::uint64_t seed = 0;

  // Text that the first window's prompt contains as its previous text, for names and spelling.
  std::string initial_prompt = {};
  bool carry_initial_prompt = false;  // the prompts of all windows contain initial_prompt
  // Not in openai/whisper: words at the beginning of every window's prompt.
  std::string hotwords = {};
  // Prompts contain the text of previous windows.
  bool condition_on_previous_text = true;
  // After a window that was decoded at a temperature above this, prompts omit all text up to the end of that window.
  double prompt_reset_on_temperature = 0.5;

  // A window is decoded again, at the next temperature, if the compression ratio of its text is above this value (see
  // TranscriptSegment::compression_ratio). Unset: ignored.
  std::optional<double> compression_ratio_threshold = 2.4;
  // A window is also decoded again if the mean log-probability of its tokens is below this value. Unset: ignored.
  std::optional<double> logprob_threshold = -1.0;
  // A window counts as silent if its no-speech probability is above this value, unless its mean log-probability is
  // above `logprob_threshold`. Unset: no window counts as silent.
  std::optional<double> no_speech_threshold = 0.6;

  // Segments have their own times; otherwise each window is one segment.
  bool timestamps = true;
  // Maximum start of a window's first segment, in seconds from the start of the window. Unset: no limit.
  std::optional<double> max_initial_timestamp = 1.0;
  // Compute the times of words from the decoder's cross-attention.
  bool word_timestamps = false;
  std::string prepend_punctuations = kPrependPunctuations;  // marks that belong to the following word
  std::string append_punctuations = kAppendPunctuations;    // marks that belong to the preceding word
  // Seconds of silence: an improbable text between longer silences is dropped, and the silences are skipped. Unset: no
  // text is dropped. REQUIRES: word_timestamps.
  std::optional<double> hallucination_silence_threshold = {};
  // Parts of the recording to transcribe, in seconds: start, end, start, end, ...; the last end may be missing.
  std::vector<double> clip_timestamps = {};

  // Not in openai/whisper: path of Silero's voice activity model, a .safetensors file; empty for none. Only the speech
  // that it finds is transcribed. Times are those of the whole recording.
  std::filesystem::path vad_model = {};
  VoiceActivityOptions vad = {};

  // Windows of different recordings decoded together; 0 for what fits memory and CPU. Results do not depend on it.
  int batch_size = 0;
  // Batches side by side, each with LoadOptions::threads threads. Results do not depend on it.
  int workers = 1;

  // Callbacks. The caller's thread calls them, except for on_work. An exception from a callback ends the work and is
  // thrown by transcribe().

  // Called with segments of a recording as soon as they are final.
  std::function<void(std::size_t recording, std::span<const TranscriptSegment> segments)> on_segments = {};
  // Called after each decoded window of a recording with the number of seconds transcribed so far.
  std::function<void(std::size_t recording, double seconds)> on_progress = {};
  // Called after each step of a worker, by the worker's thread. One call at a time.
  std::function<void(const GenerateProgress&)> on_work = {};
};

}  // namespace encdec
