#include "encdec/models/speech/live/live_session.h"

namespace encdec {
namespace {

template <auto M>
constexpr auto kUtterance = [](LiveOptions& options) -> auto& {
  return options.utterances.*M;
};

using U = UtteranceOptions;
constexpr OptionRow<LiveOptions> kLiveSettings[] = {
    {.name = "step_ms",
     .value = kOption<&LiveOptions::step_ms>,
     .range = {100, 60'000},
     .group = "Live",
     .type = "N",
     .help = "Milliseconds of speech between two texts that are not final",
     .command_name = "--step"},
    {.name = "partials",
     .value = kWordOption<&LiveOptions::partials>,
     .group = "Live",
     .type = "auto|none|always",
     .help = "Texts while an utterance is spoken: those that are not late, none or all"},
    {.name = "silence_duration_ms",
     .value = kUtterance<&U::silence_duration_ms>,
     .range = {100, 10'000},
     .group = "Live",
     .type = "N",
     .help = "Milliseconds of silence that end an utterance",
     .command_name = "--silence"},
    {.name = "prefix_padding_ms",
     .value = kUtterance<&U::prefix_padding_ms>,
     .range = {0, 5'000},
     .group = "Live",
     .type = "N",
     .help = "Milliseconds of sound before speech that belong to the utterance",
     .command_name = "--prefix-padding"},
    {.name = "threshold",
     .value = kUtterance<&U::threshold>,
     .range = {0, 1},
     .group = "Live",
     .type = "X",
     .help = "Probability of speech at which an utterance begins",
     .command_name = "--speech-threshold"},
    {.name = "max_utterance_s",
     .value = kUtterance<&U::max_utterance_s>,
     .range = {2, 30, true},
     .group = "Live",
     .type = "X",
     .help = "Seconds after which an utterance is cut where it is quietest; 0: 14/15 of the model's window",
     .command_name = "--max-utterance"},
};

}  // namespace

std::span<const OptionRow<LiveOptions>> live_settings() {
  return kLiveSettings;
}

}  // namespace encdec
