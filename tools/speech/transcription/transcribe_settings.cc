#include "encdec/speech/transcription/transcribe_settings.h"

#include <limits>

#include "encdec/models/generation/generation_settings.h"

namespace encdec {
namespace {

using O = TranscribeOptions;
using Vad = VoiceActivityOptions;
using Lines = TranscriptLineOptions;
using SpeechRow = OptionRow<O>;
using LineRow = OptionRow<Lines>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr OptionRange kShare{0, 1}, kFactor{0, 100}, kSeconds{0, 1e9}, kSequences{1, kMaxSequences},
    kMilliseconds{0, 1'000'000'000}, kCount{1, kMaxTokenCount};

// The help lists the options of each group in this order.
constexpr SpeechRow kSettings[] = {
    SpeechRow("language", kOption<&O::language>, {}, "Speech", "LANG",
              "Spoken language, such as en or German; detected if not given"),
    SpeechRow("task", kOption<&O::task>, {}, "Speech", "transcribe|translate",
              "Write the text in the spoken language, or translate it into English"),
    SpeechRow("initial_prompt", kOption<&O::initial_prompt>, {}, "Speech", "TEXT",
              "Previous text for the first window, for example with names and their spelling",
              {.other_names = {"prompt"}}),
    SpeechRow("carry_initial_prompt", kOption<&O::carry_initial_prompt>, {}, "Speech", {},
              "Use the initial prompt for every window"),
    SpeechRow("hotwords", kOption<&O::hotwords>, {}, "Speech", "TEXT",
              "Words to put before the previous text in every window's prompt"),
    SpeechRow("condition_on_previous_text", kOption<&O::condition_on_previous_text>, {}, "Speech", {},
              "Give each window the text of the previous windows",
              {.no_help = "Decode each window without the text of the previous windows"}),
    SpeechRow("prompt_reset_on_temperature", kOption<&O::prompt_reset_on_temperature>, kSeconds, "Speech", "X",
              "After a window that was decoded at a higher temperature, drop the previous text"),
    SpeechRow("clip_timestamps", kOption<&O::clip_timestamps>, kSeconds, "Speech", "LIST",
              "Parts of the recordings to transcribe: start,end,start,end,... in seconds"),
    SpeechRow("beam_size", kOption<&O::beam_size>, kSequences, "Search", "N", "Beams at temperature 0",
              {.command_names = "--beam-size,--num-beams"}),
    SpeechRow("best_of", kOption<&O::best_of>, kSequences, "Search", "N", "Samples at temperatures above 0"),
    SpeechRow("patience", kOption<&O::patience>, kFactor, "Search", "X",
              "Finished beams to wait for, as a multiple of the beam size"),
    SpeechRow("length_penalty", kOption<&O::length_penalty>, kShare, "Search", "X",
              "Alpha of the length penalty (Wu et al. 2016); if not given, beams are compared by mean log-probability"),
    SpeechRow("temperature", kOption<&O::temperatures>, kFactor, "Search", "X",
              "0: greedy or beam search; above 0: sample tokens"),
    SpeechRow("seed", kOption<&O::seed>, {}, "Search", "N", "Seed of the samples"),
    SpeechRow("suppress_tokens", kOption<&O::suppress_tokens>, {-1, std::numeric_limits<std::int32_t>::max()}, "Search",
              "LIST", "Token ids never to generate; -1: all tokens that are not speech"),
    SpeechRow("prompt_lookup_num_tokens", kOption<&O::prompt_lookup_num_tokens>, {0, kMaxTokenCount},
              "Speculative decoding", "N",
              "Draft up to N tokens that followed an earlier occurrence of the last tokens; 0: none"),
    SpeechRow("num_assistant_tokens", kOption<&O::num_assistant_tokens>, kSequences, "Speculative decoding", "K|auto",
              "Draft tokens per step; auto, the default: adapts to how many are accepted"),
    SpeechRow("compression_ratio_threshold", kOption<&O::compression_ratio_threshold>, kSeconds, "Fallback and silence",
              "X", "Reject a text with a higher zlib compression ratio, which shows repetition"),
    SpeechRow("logprob_threshold", kOption<&O::logprob_threshold>, {-1e9, 0}, "Fallback and silence", "X",
              "Reject a text with a lower mean log-probability",
              {.other_names = {"log_prob_threshold", "logprob_thold"}}),
    SpeechRow("no_speech_threshold", kOption<&O::no_speech_threshold>, kShare, "Fallback and silence", "X",
              "Skip a window as silent if its no-speech probability is above this and its mean log-probability is not "
              "above --logprob-threshold",
              {.other_names = {"no_speech_thold"}}),
    SpeechRow("hallucination_silence_threshold", kOption<&O::hallucination_silence_threshold>, kSeconds,
              "Fallback and silence", "X",
              "Skip improbable text between silences that are longer than X seconds; needs --word-timestamps"),
    SpeechRow("vad_model", kOption<&O::vad_model>, {}, "Fallback and silence", "FILE",
              "Silero's voice activity detector (.safetensors); only the speech that it detects is transcribed"),
    SpeechRow("vad_threshold", kOption<&O::vad, &Vad::threshold>, kShare, "Fallback and silence", "X",
              "Probability above which audio counts as speech"),
    SpeechRow("vad_neg_threshold", kOption<&O::vad, &Vad::neg_threshold>, kShare, "Fallback and silence", "X",
              "Probability below which speech ends; default: --vad-threshold minus 0.15"),
    SpeechRow("vad_min_silence_duration_ms", kOption<&O::vad, &Vad::min_silence_duration_ms>, kMilliseconds,
              "Fallback and silence", "N", "Shorter pauses do not end a speech segment"),
    SpeechRow("vad_min_speech_duration_ms", kOption<&O::vad, &Vad::min_speech_duration_ms>, kMilliseconds,
              "Fallback and silence", "N", "Discard shorter speech segments"),
    SpeechRow("vad_max_speech_duration_s", kOption<&O::vad, &Vad::max_speech_duration_s>, {0, kInfinity},
              "Fallback and silence", "X", "Split longer speech segments at a pause"),
    SpeechRow("vad_speech_pad_ms", kOption<&O::vad, &Vad::speech_pad_ms>, kMilliseconds, "Fallback and silence", "N",
              "Padding kept before and after each speech segment"),
    SpeechRow("timestamps", kOption<&O::timestamps>, {}, "Times", {}, {},
              {.other_names = {"!without_timestamps", "!no_timestamps"},
               .no_help = "Generate no timestamps: each window is one segment"}),
    SpeechRow("max_initial_timestamp", kOption<&O::max_initial_timestamp>, kFactor, "Times", "X",
              "Latest start of a window's first segment, in seconds"),
    SpeechRow("word_timestamps", kOption<&O::word_timestamps>, {}, "Times", {}, "Compute the times of words"),
    SpeechRow("prepend_punctuations", kOption<&O::prepend_punctuations>, {}, "Times", "TEXT",
              "Punctuation marks that belong to the next word"),
    SpeechRow("append_punctuations", kOption<&O::append_punctuations>, {}, "Times", "TEXT",
              "Punctuation marks that belong to the previous word"),
};

constexpr LineRow kLineSettings[] = {
    LineRow("highlight_words", kOption<&Lines::highlight_words>, {}, "Times", {},
            "Underline each word as it is spoken, in srt and vtt; needs --word-timestamps"),
    LineRow("max_line_width", kOption<&Lines::max_line_width>, kCount, "Times", "N",
            "Maximum characters of a line; needs --word-timestamps"),
    LineRow("max_line_count", kOption<&Lines::max_line_count>, kCount, "Times", "N",
            "Maximum lines of a subtitle; needs --max-line-width"),
    LineRow("max_words_per_line", kOption<&Lines::max_words_per_line>, kCount, "Times", "N",
            "Maximum words of a subtitle; needs --word-timestamps"),
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
  // Return the same values as openai/whisper, which calls numpy.arange(first, 1 + 1e-6, step).
  for (int i = 1;; ++i) {
    const double next = first + i * *step;
    if (next >= 1.0 + 1e-6) return temperatures;
    temperatures.push_back(next);
  }
}

}  // namespace encdec
