#include "encdec/models/speech/transcription/recording_transcriber.h"

#include <algorithm>
#include <cmath>

#include "encdec/models/speech/transcript/hallucination.h"
#include "encdec/models/speech/transcription/alignment_reader.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// A text within this many seconds of an edge of the window counts as next to silence there.
constexpr double kWindowEdge = 2.0;

std::uint64_t frame_at(double seconds) {
  return static_cast<std::uint64_t>(std::max(std::nearbyint(seconds * LogMel::kFramesPerSecond), 0.0));
}

}  // namespace

RecordingTranscriber::RecordingTranscriber(const TranscriptionTask& task, Recording recording)
    : task_(task), seconds_(recording.seconds), language_(task.language()), tokens_(task.initial_prompt()) {
  if (task.voice_activity() != nullptr) {
    finder_.emplace(recording, task.voice_activity(), task.options().vad);
    recording_ = std::move(recording);
  } else {
    open_windows(std::move(recording));
  }
}

void RecordingTranscriber::open_windows(Recording recording) {
  windows_.emplace(std::move(recording), task_.facts().mel, is_openai() ? 0 : task_.facts().window_frames());
}

bool RecordingTranscriber::read() {
  if (finder_) {
    if (!finder_->read()) return false;
    const std::vector<SpeechSpan> spans = finder_->spans();
    finder_.reset();
    times_.emplace(spans);
    open_windows(speech_of(std::move(recording_), spans));
  }
  if (!windows_->find_largest()) return false;
  if (clips_.empty()) choose_clips();
  return !find_window() || !language_ || windows_->reach(seek_, window_frames());
}

void RecordingTranscriber::choose_clips() {
  std::vector<std::uint64_t> points;
  for (const double seconds : task_.options().clip_timestamps) points.push_back(frame_at(seconds));
  if (points.empty()) points.push_back(0);
  if (points.size() % 2 == 1) points.push_back(windows_->frames());
  for (std::size_t i = 0; i < points.size(); i += 2) {
    clips_.emplace_back(points[i], std::min(points[i + 1], windows_->frames()));
  }
  seek_ = clips_.front().first;
  if (!is_openai() && !task_.options().condition_on_previous_text) prompt_start_ = tokens_.size();
}

// Returns the length of the window at seek_. REQUIRES: find_window() has returned true.
std::size_t RecordingTranscriber::window_frames() const {
  return std::min<std::size_t>(task_.facts().window_frames(), clips_[clip_].second - seek_);
}

// Moves to the next clip if the current one is done. Returns false if there are no more clips.
bool RecordingTranscriber::find_window() {
  while (clip_ < clips_.size()) {
    seek_ = std::max(seek_, clips_[clip_].first);
    if (seek_ < clips_[clip_].second) return true;
    if (++clip_ < clips_.size()) seek_ = clips_[clip_].first;
  }
  return false;
}

std::optional<DecodeJob> RecordingTranscriber::next() {
  const std::size_t rows = task_.facts().window_frames();
  if (!find_window()) return std::nullopt;
  if (!language_) {
    detected_ = std::make_shared<TranscriptionTask::Detected>();
    return task_.detection(windows_->beginning(rows), detected_);
  }
  place_ = {.first = seek_,
            .frames = window_frames(),
            .sound = static_cast<std::int64_t>(windows_->sound_frames()) - static_cast<std::int64_t>(seek_)};
  decoded_ = std::make_shared<DecodedWindow>();
  return task_.window(windows_->window(place_.first, place_.frames, rows), place_, *language_, previous_text(),
                      decoded_);
}

// Returns the previous text for the next window's prompt: the last of the tokens after prompt_start_. If there are
// none, the rules of transformers use the initial prompt again.
TokenIds RecordingTranscriber::previous_text() const {
  const TokenIds& initial = task_.initial_prompt();
  const bool has_initial = task_.options().carry_initial_prompt || (!is_openai() && prompt_start_ == tokens_.size());
  const std::size_t begin = has_initial ? std::max(initial.size(), prompt_start_) : prompt_start_;
  std::size_t capacity = task_.max_previous_tokens();
  // As in openai/whisper: if the initial prompt takes all the space, add all of the text; window() cuts the front.
  if (has_initial && is_openai()) capacity = capacity > initial.size() ? capacity - initial.size() : tokens_.size();
  const std::size_t count = std::min(capacity, tokens_.size() - begin);
  TokenIds earlier = has_initial ? initial : TokenIds();
  earlier.insert(earlier.end(), tokens_.end() - static_cast<std::ptrdiff_t>(count), tokens_.end());
  return earlier;
}

std::vector<TranscriptSegment> RecordingTranscriber::finish() {
  if (detected_ != nullptr) {
    language_ = detected_->language;
    language_probability_ = detected_->probability;
    detected_ = nullptr;
    return {};
  }
  const TranscribeOptions& options = task_.options();
  const std::shared_ptr<const DecodedWindow> decoded = std::move(decoded_);
  if (decoded->is_silence(options)) {
    seek_ += place_.frames;
    if (!is_openai()) update_prompt_start(decoded->temperature);
    return {};
  }
  CutWindow cut = cut_window(*decoded, place_, task_.tokens(), options.rules);
  std::vector<TranscriptSegment>& segments = cut.segments;
  seek_ += cut.advance;
  const WordTimeOptions words{.end_of_text = task_.tokens().end_of_text,
                              .last_speech = last_speech_,
                              .prepend_punctuations = options.prepend_punctuations,
                              .append_punctuations = options.append_punctuations};
  if (options.word_timestamps && !is_openai()) {
    std::span<const TokenTiming> timings = decoded->timings;
    for (TranscriptSegment& segment : segments) {
      add_token_words(segment, timings, split_words(task_, *language_, text_tokens({&segment, 1}, words.end_of_text)),
                      words);
      timings = timings.subspan(segment.tokens.size());
    }
  } else if (options.word_timestamps) {
    add_word_timestamps(segments, decoded->words, words);
    if (!cut.ends_in_time) {
      const auto end = speech_end(segments);
      if (end && *end > place_.start()) seek_ = frame_at(*end);
    }
    if (options.hallucination_silence_threshold && !skip_hallucinations(segments, cut)) return {};
    if (const auto end = speech_end(segments)) last_speech_ = *end;
  }
  for (TranscriptSegment& segment : segments) keep(segment);
  update_prompt_start(decoded->temperature);
  return std::move(segments);
}

void RecordingTranscriber::keep(TranscriptSegment& segment) {
  if (is_openai() && (segment.start == segment.end || strip(segment.text).empty())) {
    segment.text.clear();
    segment.tokens.clear();
    segment.words.clear();
  }
  segment.id = segment_count_++;
  const TokenIds& ids = segment.tokens;
  // By the rules of transformers a segment may end with two timestamps; prompts get only the first.
  const bool has_both = !is_openai() && ids.size() > 2 && task_.tokens().is_timestamp(ids[ids.size() - 2]);
  tokens_.insert(tokens_.end(), ids.begin(), ids.end() - (has_both ? 1 : 0));
  if (times_) times_->restore(segment);
}

// Updates prompt_start_, the start of the text for prompts, after a window decoded at `temperature`. By the rules of
// openai, text that was excluded once stays excluded. By those of transformers, a window of low temperature includes
// all text again.
void RecordingTranscriber::update_prompt_start(double temperature) {
  const TranscribeOptions& options = task_.options();
  const double most = options.prompt_reset_on_temperature;
  const bool is_told = options.condition_on_previous_text && (is_openai() ? temperature <= most : temperature < most);
  if (!is_told) {
    prompt_start_ = tokens_.size();
  } else if (!is_openai()) {
    prompt_start_ = 0;
  }
}

// Drops segments that are probably hallucinated and next to silence, and moves seek_ past the silence. Returns false if
// the whole window is dropped; the next window then begins at its first segment with words.
bool RecordingTranscriber::skip_hallucinations(std::vector<TranscriptSegment>& segments, const CutWindow& cut) {
  const double threshold = *task_.options().hallucination_silence_threshold;
  const double begin = place_.start();
  const WindowPlace whole{.first = place_.first, .frames = task_.facts().window_frames()};
  const double window_end = begin + whole.seconds();
  if (!cut.ends_in_time) {
    const auto end = speech_end(segments);
    if (end && *end > begin) {
      seek_ = window_end - *end > threshold ? frame_at(*end) : place_.first + place_.frames;
    }
  }
  const TranscriptSegment* first = next_words_segment(segments);
  if (first != nullptr && is_segment_anomaly(*first)) {
    const double gap = first->start - begin;
    if (gap > threshold) {
      seek_ = place_.first + frame_at(gap);
      return false;
    }
  }
  double last_end = last_speech_;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const TranscriptSegment& segment = segments[i];
    if (segment.words.empty()) continue;
    if (is_segment_anomaly(segment)) {
      const TranscriptSegment* next = next_words_segment(std::span(segments).subspan(i + 1));
      const double next_start = next != nullptr ? next->words.front().start : begin + place_.seconds();
      const bool silence_before =
          segment.start - last_end > threshold || segment.start < threshold || segment.start - begin < kWindowEdge;
      const bool silence_after = next_start - segment.end > threshold ||
                                 (next != nullptr && is_segment_anomaly(*next)) ||
                                 window_end - segment.end < kWindowEdge;
      if (silence_before && silence_after) {
        seek_ = frame_at(std::max(begin + 1, segment.start));
        const double content_end = static_cast<double>(windows_->frames()) / LogMel::kFramesPerSecond;
        if (content_end - segment.end < threshold) seek_ = windows_->frames();
        segments.resize(i);
        return true;
      }
    }
    last_end = segment.end;
  }
  return true;
}

double RecordingTranscriber::seconds_done() const {
  const double seconds = std::min(static_cast<double>(seek_) / LogMel::kFramesPerSecond, windows_->seconds());
  return times_ ? times_->original(seconds, SpeechTimeMap::Edge::end) : seconds;
}

Transcript RecordingTranscriber::transcript() const {
  const WhisperTokens& ids = task_.tokens();
  const std::span said = std::span(tokens_).subspan(task_.initial_prompt().size());
  const bool is_known = ids.is_multilingual && language_;
  return {.text = ids.text(said),
          .language = std::string(is_known ? ids.code_of(*language_) : "en"),
          .language_probability = language_probability_,
          .duration = times_ ? seconds_.value_or(windows_->seconds()) : windows_->seconds()};
}

}  // namespace encdec
