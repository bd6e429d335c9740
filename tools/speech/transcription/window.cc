#include "encdec/speech/transcription/window.h"

#include <algorithm>

#include "encdec/models/families/whisper.h"

namespace encdec {

bool DecodedWindow::needs_fallback(const TranscribeOptions& options) const {
  const bool is_improbable = options.logprob_threshold && avg_logprob < *options.logprob_threshold;
  // If improbable text is probably silence, do not try another temperature, because the window is dropped.
  if (is_improbable && options.no_speech_threshold && no_speech_prob > *options.no_speech_threshold) return false;
  return is_improbable ||
         (options.compression_ratio_threshold && compression_ratio > *options.compression_ratio_threshold);
}

SplitWindow split_window(const DecodedWindow& decoded, const WindowPosition& position, const WhisperTokens& tokens) {
  constexpr double kStep = WhisperTokens::kTimestampSeconds;
  const TokenIds& ids = decoded.tokens;
  const auto is_time = [&](std::size_t i) { return tokens.is_timestamp(ids[i]); };
  const auto steps = [&](std::size_t i) { return ids[i] - tokens.first_timestamp; };
  const double begin = position.start();
  SplitWindow cut;
  const auto add = [&](std::size_t first, std::size_t last, double start, double end) {
    TranscriptSegment& segment = cut.segments.emplace_back();
    segment.seek = position.first;
    segment.start = start;
    segment.end = end;
    segment.tokens.assign(ids.begin() + static_cast<std::ptrdiff_t>(first),
                          ids.begin() + static_cast<std::ptrdiff_t>(last));
    segment.text = tokens.text(segment.tokens);
    segment.temperature = decoded.temperature;
    segment.avg_logprob = decoded.avg_logprob;
    segment.compression_ratio = decoded.compression_ratio;
    segment.no_speech_prob = decoded.no_speech_prob;
  };

  // Two consecutive timestamps are the end of a segment and the start of the next segment.
  const std::size_t count = ids.size();
  cut.ends_with_timestamp = count >= 2 && !is_time(count - 2) && is_time(count - 1);
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < count; ++i) {
    if (is_time(i - 1) && is_time(i)) ends.push_back(i);
  }
  if (!ends.empty()) {
    if (cut.ends_with_timestamp) ends.push_back(count);
    std::size_t first = 0;
    for (const std::size_t end : ends) {
      add(first, end, begin + steps(first) * kStep, begin + steps(end - 1) * kStep);
      first = end;
    }
    // The text after the last two consecutive timestamps is incomplete, so the next window starts at this time.
    cut.advance =
        cut.ends_with_timestamp ? position.frames : static_cast<std::size_t>(steps(first - 1) * kWhisperFramesPerRow);
    if (cut.advance == 0) cut.advance = position.frames;
    return cut;
  }
  // Without consecutive timestamps, the window is one segment. It ends at the last timestamp unless this is 0.00 s.
  double duration = position.seconds();
  const auto last = std::find_if(ids.rbegin(), ids.rend(), [&](std::int32_t id) { return tokens.is_timestamp(id); });
  if (last != ids.rend() && *last != tokens.first_timestamp) {
    duration = (*last - tokens.first_timestamp) * kStep;
  }
  add(0, count, begin, begin + duration);
  cut.advance = position.frames;
  return cut;
}

}  // namespace encdec
