#include "encdec/speech/live/live_session.h"

namespace encdec {
namespace {

using Live = LiveOptions;
using U = UtteranceOptions;
using LiveRow = OptionRow<LiveOptions>;

constexpr LiveRow kLiveSettings[] = {
    LiveRow("step_ms", kOption<&Live::step_ms>, {100, 60'000}, "Live", "N",
            "Milliseconds of speech between two partial texts", {.command_names = "--step-ms,--step"}),
    LiveRow("partials", kOption<&Live::partials>, {}, "Live", "auto|none|always",
            "Partial texts while an utterance is spoken; auto: skip those that would be late"),
    LiveRow("silence_duration_ms", kOption<&Live::utterances, &U::silence_duration_ms>, {100, 10'000}, "Live", "N",
            "Milliseconds of silence that end an utterance", {.command_names = "--silence-duration-ms,--silence"}),
    LiveRow("prefix_padding_ms", kOption<&Live::utterances, &U::prefix_padding_ms>, {0, 5'000}, "Live", "N",
            "Milliseconds of audio before speech to include in the utterance",
            {.command_names = "--prefix-padding-ms,--prefix-padding"}),
    LiveRow("threshold", kOption<&Live::utterances, &U::threshold>, {0, 1}, "Live", "X",
            "Probability of speech at which an utterance begins", {.command_names = "--threshold,--speech-threshold"}),
    LiveRow(
        "max_utterance_s", kOption<&Live::utterances, &U::max_utterance_s>, {2, 30, true}, "Live", "X",
        "Maximum seconds of an utterance; a longer one is split where it is quietest; 0: 14/15 of the model's window",
        {.command_names = "--max-utterance-s,--max-utterance"}),
};

}  // namespace

std::span<const OptionRow<LiveOptions>> live_settings() {
  return kLiveSettings;
}

}  // namespace encdec
