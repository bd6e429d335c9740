#include "encdec/models/speech/transcription/recording_transcriber.h"

#include <algorithm>
#include <iterator>

namespace encdec {

RecordingTranscriber::RecordingTranscriber(const TranscriptionTask& task, Recording recording)
    : Transcriber(std::move(recording), task.voice_activity(), task.options().vad),
      task_(task),
      language_(task.language()) {
  text_ = {.tokens = task.initial_prompt(), .initial = task.initial_prompt().size()};
  task.rules().start(text_, task.options());
}

void RecordingTranscriber::open(Recording recording) {
  if (!recording.draft.empty()) draft_ = RepeatedText(task_.tokens().encode(" " + recording.draft));
  windows_.emplace(std::move(recording), task_.facts().mel, task_.rules().padded_frames(task_.facts()));
}

bool RecordingTranscriber::read_window() {
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
  DecodeJob job =
      task_.window(windows_->window(place_.first, place_.frames, rows), place_, *language_,
                   task_.rules().previous_text(text_, task_.max_previous_tokens(), task_.options()), decoded_);
  const auto rest = draft_.guess(said_);
  job.prompt.draft.assign(rest.begin(), rest.end());
  return job;
}

std::vector<TranscriptSegment> RecordingTranscriber::finish(std::vector<Hypothesis> /*hypotheses*/) {
  if (detected_ != nullptr) {
    language_ = detected_->language;
    language_probability_ = detected_->probability;
    detected_ = nullptr;
    return {};
  }
  const TranscribeOptions& options = task_.options();
  const WhisperRules& rules = task_.rules();
  const std::shared_ptr<const DecodedWindow> decoded = std::move(decoded_);
  if (decoded->is_silence(options)) {
    seek_ += place_.frames;
    rules.update(text_, *decoded, options);
    return {};
  }
  FinishedWindow window{.decoded = *decoded,
                        .place = place_,
                        .cut = rules.cut(*decoded, place_, task_.tokens()),
                        .language = *language_,
                        .content_frames = windows_->frames()};
  window.seek = seek_ + window.cut.advance;
  const bool is_kept = !options.word_timestamps || rules.add_words(window, task_, last_speech_);
  seek_ = window.seek;
  if (!is_kept) return {};
  for (TranscriptSegment& segment : window.cut.segments) keep(segment);
  rules.update(text_, *decoded, options);
  return std::move(window.cut.segments);
}

void RecordingTranscriber::keep(TranscriptSegment& segment) {
  const auto kept = static_cast<std::ptrdiff_t>(task_.rules().close(segment, task_.tokens()));
  segment.id = segment_count_++;
  text_.tokens.insert(text_.tokens.end(), segment.tokens.begin(), segment.tokens.begin() + kept);
  std::ranges::copy_if(segment.tokens, std::back_inserter(said_),
                       [this](std::int32_t token) { return !task_.tokens().is_timestamp(token); });
  restore(segment);
}

double RecordingTranscriber::seconds_done() const {
  return restored(std::min(static_cast<double>(seek_) / LogMel::kFramesPerSecond, windows_->seconds()));
}

Transcript RecordingTranscriber::transcript() const {
  const std::span said = std::span(text_.tokens).subspan(text_.initial);
  return {.text = task_.tokens().text(said),
          .language = std::string(language_ ? task_.language_code(*language_) : "en"),
          .language_probability = language_probability_,
          .duration = duration(windows_->seconds())};
}

}  // namespace encdec
