#include "encdec/speech/live/live_session.h"

namespace encdec {
namespace {

using Live = LiveOptions;
using U = UtteranceOptions;
using LiveRow = OptionRow<LiveOptions>;

constexpr LiveRow kLiveSettings[] = {
    LiveRow("step_ms", kOption<&Live::step_ms>, {100, 60'000}, "Live", "N",
            "Milliseconds of speech between two texts that are not final", {.command_names = "--step-ms,--step"}),
    LiveRow("partials", kOption<&Live::partials>, {}, "Live", "auto|none|always",
            "Texts while an utterance is spoken: those that are not late, none or all"),
    LiveRow("silence_duration_ms", kOption<&Live::utterances, &U::silence_duration_ms>, {100, 10'000}, "Live", "N",
            "Milliseconds of silence that end an utterance", {.command_names = "--silence-duration-ms,--silence"}),
    LiveRow("prefix_padding_ms", kOption<&Live::utterances, &U::prefix_padding_ms>, {0, 5'000}, "Live", "N",
            "Milliseconds of sound before speech that belong to the utterance",
            {.command_names = "--prefix-padding-ms,--prefix-padding"}),
    LiveRow("threshold", kOption<&Live::utterances, &U::threshold>, {0, 1}, "Live", "X",
            "Probability of speech at which an utterance begins", {.command_names = "--threshold,--speech-threshold"}),
    LiveRow("max_utterance_s", kOption<&Live::utterances, &U::max_utterance_s>, {2, 30, true}, "Live", "X",
            "Seconds after which an utterance is cut where it is quietest; 0: 14/15 of the model's window",
            {.command_names = "--max-utterance-s,--max-utterance"}),
};

}  // namespace

std::span<const OptionRow<LiveOptions>> live_settings() {
  return kLiveSettings;
}

}  // namespace encdec
