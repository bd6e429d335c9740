#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/speech/features/speech_spans.h"
#include "encdec/models/speech/transcript/speech_rules.h"
#include "encdec/models/speech/transcript/transcript.h"
#include "encdec/models/speech/transcript/word_times.h"

namespace encdec {

// What to write down of what is said.
enum class SpeechTask : std::uint8_t {
  transcribe,  // in the language that is spoken
  translate,   // in English
};

// "openai" or "transformers"; nullopt for another word.
std::optional<SpeechRules> speech_rules_named(std::string_view name);

// From `first` on, each more by `step` up to 1, as openai/whisper's command counts; without a step the first alone.
std::vector<double> fallback_temperatures(double first, std::optional<double> step);

// The values that a number may have, both ends included.
struct TranscribeRange {
  double min;
  double max;
  bool or_zero = false;

  // False for NaN.
  bool has(double value) const { return (or_zero && value == 0) || (value >= min && value <= max); }
  // For errors: "a number from 0 to 100".
  std::string expected() const;
};

// Ranges of the numbers in TranscribeOptions. The library throws ConfigError for others; the command and the server
// refuse them before that.
struct TranscribeRanges {
  static constexpr TranscribeRange temperature{0, 100}, patience{0, 100}, length_penalty{0, 1};
  static constexpr TranscribeRange prompt_reset_on_temperature{0, 1e9};
  static constexpr TranscribeRange compression_ratio_threshold{0, 1e9}, logprob_threshold{-1e9, 0};
  static constexpr TranscribeRange no_speech_threshold{0, 1}, hallucination_silence_threshold{0, 1e9};
  static constexpr TranscribeRange max_initial_timestamp{0, 100}, clip_timestamps{0, 1e9};
  static constexpr TranscribeRange chunk_length{0.1, 1e9, true};  // and at most a window of the model
};

// How to transcribe. Names, meanings and defaults are those of openai/whisper's command (transcribe.py). Recordings are
// read in windows as long as the model's, and each goes on where the last one ended.
struct TranscribeOptions {
  // What these are when nothing else is said: the member's own, or as transformers' generate() is called without any:
  // greedy search at temperature 0, no thresholds, and windows are not told the text of those before.
  static TranscribeOptions of(SpeechRules rules);

  // How windows are cut into segments, what they are told, and what thresholds are compared with. By those of
  // transformers, recordings that fit into a window are followed by silence, and the checkpoint's
  // generation_config.json tells what -1 in suppress_tokens stands for, what is not said first, and
  // max_initial_timestamp. Beams, without patience, are its own too, but not what is drawn above
  // temperature 0.
  SpeechRules rules = SpeechRules::openai;

  // What is spoken, as a code or in English ("de", "German"); empty: the model listens to the first window. Models that
  // know English alone take no other.
  std::string language = {};
  SpeechTask task = SpeechTask::transcribe;  // what to write

  // Tried in this order until a window's text is neither repetitive nor improbable. 0 is the likeliest text; above it
  // tokens are drawn.
  std::vector<double> temperatures = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
  int beam_size = 5;      // at temperature 0; 1 for greedy search
  int best_of = 5;        // samples at other temperatures, of which the likeliest counts
  double patience = 1.0;  // finished beams to wait for, in beam sizes (Kasai et al. 2022)
  // From 0 to 1: texts are compared by score / ((5 + length) / 6)^penalty (Wu et al. 2016); if not set by score /
  // length. By the rules of transformers by score / length^penalty, with 1 if not set.
  std::optional<double> length_penalty = {};
  // Ids that must not be produced; -1 stands for all that is not spoken, such as brackets and notes.
  std::vector<std::int32_t> suppress_tokens = {-1};
  // Equal recordings get equal samples.
  std::uint64_t seed = 0;

  // What the first window is told as the text before it: names and spelling.
  std::string initial_prompt = {};
  bool carry_initial_prompt = false;  // all windows are told it
  // Not in openai/whisper: words that all windows are told before anything else.
  std::string hotwords = {};
  // Windows are told the text of those before.
  bool condition_on_previous_text = true;
  // Not if it was decoded at a temperature above this.
  double prompt_reset_on_temperature = 0.5;

  // A window is tried again where its text is more repetitive than this (see TranscriptSegment::compression_ratio);
  // never if not set, like the next.
  std::optional<double> compression_ratio_threshold = 2.4;
  // Or where its tokens' mean log-probability is lower than this.
  std::optional<double> logprob_threshold = -1.0;
  // A window is silence where this is passed by the probability of that and the last threshold is not reached.
  std::optional<double> no_speech_threshold = 0.6;

  // Segments have times of their own; else a segment is a window.
  bool timestamps = true;
  // Seconds into a window by which its first segment begins; no limit if not set.
  std::optional<double> max_initial_timestamp = 1.0;
  // Times for each word, from what the decoder looks at.
  bool word_timestamps = false;
  std::string prepend_punctuations = kPrependPunctuations;  // belong to the word behind
  std::string append_punctuations = kAppendPunctuations;    // belong to the word before
  // Where word times are asked for: silence longer than so many seconds around an improbable text is skipped, and that
  // text with it.
  std::optional<double> hallucination_silence_threshold = {};
  // start, end, start, end, ... in seconds: what of the recording is transcribed; the last end may be missing.
  std::vector<double> clip_timestamps = {};

  // Seconds of the chunks that recordings are cut into; 0 for none. Neighbours share a third of
  // that. Chunks know nothing of one another: those of one recording are decoded together, and their texts joined where
  // they agree, as by transformers' pipeline with chunk_length_s. Segments are told at the end, without word times.
  double chunk_length = 0;

  // Not in openai/whisper: Silero's voice activity detector, a .safetensors file of it; none if empty. Only what it
  // takes for speech is transcribed; times are those of the whole recording.
  std::filesystem::path vad_model = {};
  VoiceActivityOptions vad = {};  // what it takes for speech

  // Windows of different recordings that are decoded together; 0 for what fits memory and CPU. Results do not depend on
  // it.
  int batch_size = 0;
  // Batches side by side, each with LoadOptions::threads threads. Results do not depend on it.
  int workers = 1;

  // Called with segments of a recording as soon as they are certain, one call at a time, from any worker's thread, like
  // the next. What it throws ends the work.
  std::function<void(std::size_t recording, std::span<const TranscriptSegment> segments)> on_segments = {};
  // Called after each step of a worker.
  std::function<void(const GenerateProgress&)> on_work = {};
  // Called when so many seconds of a recording are done.
  std::function<void(std::size_t recording, double seconds)> on_progress = {};
};

}  // namespace encdec
