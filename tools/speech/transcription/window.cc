#include "encdec/speech/transcription/window.h"

#include <algorithm>

#include "encdec/models/families/whisper.h"

namespace encdec {

bool DecodedWindow::needs_fallback(const TranscribeOptions& options) const {
  const bool is_improbable = options.logprob_threshold && avg_logprob < *options.logprob_threshold;
  if (is_improbable && options.no_speech_threshold && no_speech_prob > *options.no_speech_threshold) return false;
  return is_improbable ||
         (options.compression_ratio_threshold && compression_ratio > *options.compression_ratio_threshold);
}

CutWindow cut_window(const DecodedWindow& decoded, const WindowPlace& place, const WhisperTokens& tokens) {
  constexpr double kStep = WhisperTokens::kTimestampSeconds;
  const TokenIds& ids = decoded.tokens;
  const auto is_time = [&](std::size_t i) { return tokens.is_timestamp(ids[i]); };
  const auto steps = [&](std::size_t i) { return ids[i] - tokens.first_timestamp; };
  const double begin = place.start();
  CutWindow cut;
  const auto add = [&](std::size_t first, std::size_t last, double start, double end) {
    TranscriptSegment& segment = cut.segments.emplace_back();
    segment.seek = place.first;
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

  const std::size_t count = ids.size();
  cut.ends_in_time = count >= 2 && !is_time(count - 2) && is_time(count - 1);
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < count; ++i) {
    if (is_time(i - 1) && is_time(i)) ends.push_back(i);
  }
  if (!ends.empty()) {
    if (cut.ends_in_time) ends.push_back(count);
    std::size_t first = 0;
    for (const std::size_t end : ends) {
      add(first, end, begin + steps(first) * kStep, begin + steps(end - 1) * kStep);
      first = end;
    }
    // The text after the last pair of timestamps is incomplete. The next window starts at that pair.
    cut.advance = cut.ends_in_time ? place.frames : static_cast<std::size_t>(steps(first - 1) * kWhisperFramesPerRow);
    if (cut.advance == 0) cut.advance = place.frames;
    return cut;
  }
  double duration = place.seconds();
  const auto last = std::find_if(ids.rbegin(), ids.rend(), [&](std::int32_t id) { return tokens.is_timestamp(id); });
  if (last != ids.rend() && *last != tokens.first_timestamp) {
    duration = (*last - tokens.first_timestamp) * kStep;
  }
  add(0, count, begin, begin + duration);
  cut.advance = place.frames;
  return cut;
}

}  // namespace encdec
