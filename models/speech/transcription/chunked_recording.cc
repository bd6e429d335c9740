#include "encdec/models/speech/transcription/chunked_recording.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "encdec/models/speech/transcription/transcription_task.h"

namespace encdec {
namespace {

// Fraction of a chunk at each end that only gives context: the text there is taken from the neighbouring chunk.
constexpr double kShared = 1.0 / 6;

std::size_t samples_of(double seconds) {
  return static_cast<std::size_t>(std::lrint(seconds * AudioReader::kSampleRate));
}
double seconds_of(std::uint64_t samples) {
  return static_cast<double>(samples) / AudioReader::kSampleRate;
}

}  // namespace

ChunkedRecording::ChunkedRecording(const TranscriptionTask& task, const Recording& recording)
    : task_(task),
      name_(recording.name),
      size_(samples_of(task.options().chunk_length)),
      shared_(samples_of(task.options().chunk_length * kShared)),
      read_(recording.open()) {}

std::optional<ChunkedRecording::Chunk> ChunkedRecording::next() {
  const MutexLock lock(mutex_);
  if (is_at_end_) return std::nullopt;
  const std::size_t there = samples_.size();
  samples_.resize(size_ + 1);
  const std::size_t count = read_(std::span(samples_).subspan(there));
  samples_.resize(there + count);
  read_samples_ += count;
  is_at_end_ = samples_.size() <= size_;
  std::vector<float> chunk(samples_.begin(),
                           samples_.begin() + static_cast<std::ptrdiff_t>(std::min(size_, samples_.size())));
  chunks_.push_back({.tokens = {},
                     .seconds = seconds_of(chunk.size()),
                     .left = chunks_.empty() ? 0 : seconds_of(shared_),
                     .right = is_at_end_ ? 0 : seconds_of(shared_)});
  samples_.erase(samples_.begin(),
                 samples_.begin() + static_cast<std::ptrdiff_t>(std::min(samples_.size(), size_ - 2 * shared_)));
  return Chunk{.number = chunks_.size() - 1, .recording = Recording::of_samples(std::move(chunk), name_)};
}

bool ChunkedRecording::add(std::size_t number, Transcript transcript) {
  const MutexLock lock(mutex_);
  TokenIds& tokens = chunks_[number].tokens;
  for (const TranscriptSegment& segment : transcript.segments) {
    tokens.insert(tokens.end(), segment.tokens.begin(), segment.tokens.end());
  }
  transcripts_.emplace(number, std::move(transcript));
  return is_at_end_ && transcripts_.size() == chunks_.size();
}

Transcript ChunkedRecording::transcript() const {
  const MutexLock lock(mutex_);
  const WhisperTokens& ids = task_.tokens();
  Transcript joined{.duration = seconds_of(read_samples_)};
  joined.language = transcripts_.at(0).language;
  joined.language_probability = transcripts_.at(0).language_probability;
  const JoiningIds joining{.end_of_text = ids.end_of_text,
                           .first_timestamp = ids.first_timestamp,
                           .window = static_cast<double>(task_.facts().positions) * WhisperTokens::kTimestampSeconds};
  double last = 0;  // end of the previous text: the start of a text without a timestamp
  for (JoinedText& text : join_chunks(chunks_, joining)) {
    TranscriptSegment& segment = joined.segments.emplace_back();
    // Takes the scores of the chunk's last segment.
    const auto& segments = transcripts_.at(text.chunk).segments;
    if (!segments.empty()) segment = segments.back();
    segment.id = joined.segments.size() - 1;
    segment.seek = static_cast<std::uint64_t>(begin_of(text.chunk) * LogMel::kFramesPerSecond);
    segment.start = text.start.value_or(last);
    last = segment.end = text.end.value_or(std::max(segment.start, joined.duration));
    segment.text = ids.text(text.tokens);
    segment.tokens = std::move(text.tokens);
    joined.text += segment.text;
  }
  return joined;
}

bool ChunkedRecording::is_cut() const {
  const MutexLock lock(mutex_);
  return is_at_end_;
}

double ChunkedRecording::begin_of(std::size_t chunk) const {
  return static_cast<double>(chunk) * seconds_of(size_ - 2 * shared_);
}

double ChunkedRecording::seconds_done() const {
  const MutexLock lock(mutex_);
  double seconds = 0;
  for (const auto& [number, transcript] : transcripts_) {
    const TranscribedChunk& chunk = chunks_[number];
    seconds += chunk.seconds - chunk.left / 2 - chunk.right / 2;
  }
  return seconds;
}

}  // namespace encdec
