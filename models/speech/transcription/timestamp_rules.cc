#include "encdec/models/speech/transcription/timestamp_rules.h"

#include <algorithm>
#include <cmath>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/generation/logits_processor.h"

namespace encdec {

void apply_timestamp_rules(const WhisperTokens& tokens, std::optional<double> max_initial,
                           std::span<const std::int32_t> sampled, std::span<float> logits) {
  const auto ban = [&](std::int32_t first, std::int32_t last) {
    const auto size = static_cast<std::int32_t>(logits.size());
    first = std::clamp(first, 0, size);
    last = std::clamp(last, first, size);
    std::fill(logits.begin() + first, logits.begin() + last, kBanned);
  };
  const auto end = static_cast<std::int32_t>(logits.size());
  const std::int32_t times = tokens.first_timestamp;
  ban(tokens.no_timestamps, tokens.no_timestamps + 1);

  const std::size_t count = sampled.size();
  const bool last_is_time = count >= 1 && tokens.is_timestamp(sampled[count - 1]);
  const bool before_is_time = count < 2 || tokens.is_timestamp(sampled[count - 2]);
  if (last_is_time) {
    before_is_time ? ban(times, end) : ban(0, tokens.end_of_text);
  }
  const auto last_time =
      std::find_if(sampled.rbegin(), sampled.rend(), [&](std::int32_t token) { return tokens.is_timestamp(token); });
  if (last_time != sampled.rend()) {
    // A segment must end after it starts. The next segment may start where the last one ended.
    const bool begins_here = last_is_time && !before_is_time;
    ban(times, *last_time + (begins_here ? 0 : 1));
  }
  if (sampled.empty()) {
    ban(0, times);
    if (max_initial) {
      const auto steps = static_cast<std::int32_t>(std::lround(*max_initial / WhisperTokens::kTimestampSeconds));
      ban(times + steps + 1, end);
    }
  }
  const auto text = logits.first(std::min<std::size_t>(static_cast<std::size_t>(times), logits.size()));
  const auto of_times = logits.subspan(text.size());
  if (!of_times.empty() && kernels::log_sum_exp(of_times) > std::ranges::max(text)) ban(0, times);
}

}  // namespace encdec
