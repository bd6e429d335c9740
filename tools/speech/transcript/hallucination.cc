#include "encdec/speech/transcript/hallucination.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace encdec {
namespace {

// Constants of openai/whisper (transcribe.py, word_anomaly_score and is_segment_anomaly).
constexpr double kImprobable = 0.15;
constexpr double kShortSeconds = 0.133, kLongSeconds = 2.0;
constexpr double kPerShortSecond = 15;  // score per second below kShortSeconds
constexpr std::size_t kWordsToScore = 8;
constexpr std::string_view kPunctuation = "\"'“¿([{-\"'.。,，!！?？:：”)]}、";

}  // namespace

double compression_ratio(std::string_view text) {
  constexpr int kLevel = 6;  // the default of zlib
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> compressed(size);
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  if (compress2(compressed.data(), &size, bytes, static_cast<uLong>(text.size()), kLevel) != Z_OK)
    throw std::bad_alloc();
  return static_cast<double>(text.size()) / static_cast<double>(size);
}

double word_anomaly_score(const TranscriptWord& word) {
  const double seconds = word.end - word.start;
  double score = 0;
  if (word.probability < kImprobable) score += 1;
  if (seconds < kShortSeconds) score += (kShortSeconds - seconds) * kPerShortSecond;
  if (seconds > kLongSeconds) score += seconds - kLongSeconds;
  return score;
}

bool is_segment_anomaly(const TranscriptSegment& segment) {
  if (segment.words.empty()) return false;
  std::size_t words = 0;
  double score = 0;
  for (const TranscriptWord& word : segment.words) {
    if (kPunctuation.find(word.text) != kPunctuation.npos) continue;
    score += word_anomaly_score(word);
    if (++words == kWordsToScore) break;
  }
  return score >= 3 || score + 0.01 >= static_cast<double>(words);
}

const TranscriptSegment* next_words_segment(std::span<const TranscriptSegment> segments) {
  const auto found = std::ranges::find_if(segments, [](const auto& segment) { return !segment.words.empty(); });
  return found == segments.end() ? nullptr : &*found;
}

}  // namespace encdec
