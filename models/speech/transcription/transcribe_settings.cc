#include "encdec/models/speech/transcription/transcribe_settings.h"

#include <limits>

#include "encdec/models/generation/generation_settings.h"

namespace encdec {
namespace {

using O = TranscribeOptions;
using Vad = VoiceActivityOptions;
using Lines = TranscriptLineOptions;

// A member of TranscribeOptions::vad.
template <auto M>
constexpr auto kVad = [](O& options) -> auto& {
  return options.vad.*M;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr OptionRange kShare{0, 1}, kFactor{0, 100}, kSeconds{0, 1e9}, kSequences{1, kMaxSequences},
    kMilliseconds{0, 1'000'000'000}, kCount{1, kMaxTokenCount};

// The options of a group in the help have this order.
constexpr OptionRow<O> kSettings[] = {
    {.name = "language",
     .value = kOption<&O::language>,
     .group = "Speech",
     .type = "LANG",
     .help = "Spoken language, such as en or German; detected if not given"},
    {.name = "task",
     .value = kWordOption<&O::task>,
     .group = "Speech",
     .type = "transcribe|translate",
     .help = "Write the text in the spoken language, or translate it into English"},
    {.name = "initial_prompt",
     .value = kOption<&O::initial_prompt>,
     .other_names = {"prompt"},
     .group = "Speech",
     .type = "TEXT",
     .help = "Previous text for the first window, for instance names and their spelling"},
    {.name = "carry_initial_prompt",
     .value = kOption<&O::carry_initial_prompt>,
     .group = "Speech",
     .help = "Use the initial prompt for every window"},
    {.name = "hotwords",
     .value = kOption<&O::hotwords>,
     .group = "Speech",
     .type = "TEXT",
     .help = "Words to put before the previous text of every window"},
    {.name = "condition_on_previous_text",
     .value = kOption<&O::condition_on_previous_text>,
     .group = "Speech",
     .help = "Give each window the text of the windows before it",
     .no_help = "Decode each window without the text of the windows before it"},
    {.name = "prompt_reset_on_temperature",
     .value = kOption<&O::prompt_reset_on_temperature>,
     .range = kSeconds,
     .group = "Speech",
     .type = "X",
     .help = "After a window decoded at a higher temperature, previous text begins anew"},
    {.name = "clip_timestamps",
     .value = kOption<&O::clip_timestamps>,
     .range = kSeconds,
     .group = "Speech",
     .type = "LIST",
     .help = "Parts of the recordings to transcribe: start,end,start,end,... in seconds"},
    {.name = "beam_size",
     .value = kOption<&O::beam_size>,
     .range = kSequences,
     .group = "Search",
     .type = "N",
     .help = "Beams at temperature 0",
     .command_name = "--num-beams"},
    {.name = "best_of",
     .value = kOption<&O::best_of>,
     .range = kSequences,
     .group = "Search",
     .type = "N",
     .help = "Samples at temperatures above 0"},
    {.name = "patience",
     .value = kOption<&O::patience>,
     .range = kFactor,
     .group = "Search",
     .type = "X",
     .help = "Finished beams to wait for, as a multiple of the beam size"},
    {.name = "length_penalty",
     .value = kOption<&O::length_penalty>,
     .range = kShare,
     .group = "Search",
     .type = "X",
     .help = "Alpha of the length penalty (Wu et al. 2016); if not given, beams are compared by mean log-probability"},
    {.name = "temperature",
     .value = kOption<&O::temperatures>,
     .range = kFactor,
     .group = "Search",
     .type = "X",
     .help = "0: the most likely text; above 0, tokens are sampled"},
    {.name = "seed", .value = kOption<&O::seed>, .group = "Search", .type = "N", .help = "Seed of the samples"},
    {.name = "suppress_tokens",
     .value = kOption<&O::suppress_tokens>,
     .range = {-1, std::numeric_limits<std::int32_t>::max()},
     .group = "Search",
     .type = "LIST",
     .help = "Token ids never to generate; -1: all tokens that are not speech"},
    {.name = "prompt_lookup_num_tokens",
     .value = kOption<&O::prompt_lookup_num_tokens>,
     .range = {0, kMaxTokenCount},
     .group = "Guesses",
     .type = "N",
     .help = "Guess up to N tokens from an earlier occurrence of the last ones, in the prompt or the text; 0 for none"},
    {.name = "num_assistant_tokens",
     .value = kOption<&O::num_assistant_tokens>,
     .range = kSequences,
     .group = "Guesses",
     .type = "K|auto",
     .help = "Tokens to guess at once; auto, the default: a number that follows how many were right"},
    {.name = "compression_ratio_threshold",
     .value = kOption<&O::compression_ratio_threshold>,
     .range = kSeconds,
     .group = "Guards",
     .type = "X",
     .help = "Reject a text with a higher compression ratio (by zlib), because it repeats itself"},
    {.name = "logprob_threshold",
     .value = kOption<&O::logprob_threshold>,
     .range = {-1e9, 0},
     .other_names = {"log_prob_threshold", "logprob_thold"},
     .group = "Guards",
     .type = "X",
     .help = "Reject a text with a lower mean log-probability"},
    {.name = "no_speech_threshold",
     .value = kOption<&O::no_speech_threshold>,
     .range = kShare,
     .other_names = {"no_speech_thold"},
     .group = "Guards",
     .type = "X",
     .help = "A window is silent if its no-speech probability is above this and its mean log-probability below "
             "--logprob-threshold"},
    {.name = "hallucination_silence_threshold",
     .value = kOption<&O::hallucination_silence_threshold>,
     .range = kSeconds,
     .group = "Guards",
     .type = "X",
     .help = "Skip improbable text together with the silence around it if that is longer than X seconds; needs "
             "--word-timestamps"},
    {.name = "vad_model",
     .value = kOption<&O::vad_model>,
     .group = "Guards",
     .type = "FILE",
     .help = "Silero's voice activity detector (.safetensors); only the speech that it detects is transcribed"},
    {.name = "vad_threshold",
     .value = kVad<&Vad::threshold>,
     .range = kShare,
     .group = "Guards",
     .type = "X",
     .help = "Probability above which audio counts as speech"},
    {.name = "vad_neg_threshold",
     .value = kVad<&Vad::neg_threshold>,
     .range = kShare,
     .group = "Guards",
     .type = "X",
     .help = "Probability below which speech ends; if not given, --vad-threshold less 0.15"},
    {.name = "vad_min_silence_duration_ms",
     .value = kVad<&Vad::min_silence_duration_ms>,
     .range = kMilliseconds,
     .group = "Guards",
     .type = "N",
     .help = "Shorter pauses do not end a speech segment"},
    {.name = "vad_min_speech_duration_ms",
     .value = kVad<&Vad::min_speech_duration_ms>,
     .range = kMilliseconds,
     .group = "Guards",
     .type = "N",
     .help = "Discard shorter speech segments"},
    {.name = "vad_max_speech_duration_s",
     .value = kVad<&Vad::max_speech_duration_s>,
     .range = {0, kInfinity},
     .group = "Guards",
     .type = "X",
     .help = "Cut longer speech segments at a pause"},
    {.name = "vad_speech_pad_ms",
     .value = kVad<&Vad::speech_pad_ms>,
     .range = kMilliseconds,
     .group = "Guards",
     .type = "N",
     .help = "Padding kept before and after each speech segment"},
    {.name = "timestamps",
     .value = kOption<&O::timestamps>,
     .other_names = {"!without_timestamps", "!no_timestamps"},
     .group = "Times",
     .no_help = "Generate no times: each window is one segment"},
    {.name = "max_initial_timestamp",
     .value = kOption<&O::max_initial_timestamp>,
     .range = kFactor,
     .group = "Times",
     .type = "X",
     .help = "Latest start of a window's first segment, in seconds"},
    {.name = "word_timestamps",
     .value = kOption<&O::word_timestamps>,
     .group = "Times",
     .help = "Compute the times of each word"},
    {.name = "prepend_punctuations",
     .value = kOption<&O::prepend_punctuations>,
     .group = "Times",
     .type = "TEXT",
     .help = "Marks that belong to the word after them"},
    {.name = "append_punctuations",
     .value = kOption<&O::append_punctuations>,
     .group = "Times",
     .type = "TEXT",
     .help = "Marks that belong to the word before them"},
};

constexpr OptionRow<Lines> kLineSettings[] = {
    {.name = "highlight_words",
     .value = kOption<&Lines::highlight_words>,
     .group = "Times",
     .help = "Underline each word as it is spoken, in srt and vtt; needs --word-timestamps"},
    {.name = "max_line_width",
     .value = kOption<&Lines::max_line_width>,
     .range = kCount,
     .group = "Times",
     .type = "N",
     .help = "Maximum characters of a line; needs --word-timestamps"},
    {.name = "max_line_count",
     .value = kOption<&Lines::max_line_count>,
     .range = kCount,
     .group = "Times",
     .type = "N",
     .help = "Maximum lines of a subtitle; needs --max-line-width"},
    {.name = "max_words_per_line",
     .value = kOption<&Lines::max_words_per_line>,
     .range = kCount,
     .group = "Times",
     .type = "N",
     .help = "Maximum words of a subtitle; needs --word-timestamps"},
};

}  // namespace

std::span<const OptionRow<TranscribeOptions>> transcribe_settings() {
  return kSettings;
}

std::span<const OptionRow<TranscriptLineOptions>> transcript_line_settings() {
  return kLineSettings;
}

std::vector<double> fallback_temperatures(double first, std::optional<double> step) {
  std::vector<double> temperatures = {first};
  if (step.value_or(0) == 0) return temperatures;
  // numpy.arange(first, 1 + 1e-6, step).
  for (int i = 1;; ++i) {
    const double next = first + i * *step;
    if (next >= 1.0 + 1e-6) return temperatures;
    temperatures.push_back(next);
  }
}

}  // namespace encdec
