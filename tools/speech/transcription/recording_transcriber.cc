#include <algorithm>
#include <iterator>
#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/speech/transcript/hallucination.h"
#include "encdec/speech/transcription/mel_windows.h"
#include "encdec/speech/transcription/transcription_task.h"

namespace encdec {
namespace {

// Text within this many seconds of a window's start or end counts as next to silence (openai/whisper transcribe.py).
constexpr double kWindowEdge = 2.0;

// The transcriber of TranscriptionTask. Its results are the same as in openai/whisper (transcribe.py). The text of a
// window determines the start and the prompt of the next window. States, after voice activity detection:
// 1. Measuring: read() finds the loudest frame of the recording (with voice activity detection, of the speech).
// 2. Language detection, with one job. This state is skipped if the language is known or if there is no window.
// 3. Decoding, with one job per window.
// 4. End: next() returns nullopt.
class RecordingTranscriber final : public Transcriber {
 public:
  // Throws FileError.
  RecordingTranscriber(const TranscriptionTask& task, Recording recording)
      : Transcriber(std::move(recording), task.voice_activity(), task.options().vad),
        task_(task),
        language_(task.language()),
        text_(task.initial_prompt()) {}

  std::optional<DecodeJob> next() override {
    const std::size_t rows = task_.facts().window_frames();
    if (!find_window()) return std::nullopt;
    if (!language_) {
      detected_ = std::make_shared<TranscriptionTask::Detected>();
      return task_.detection(windows_->window(0, rows, rows), detected_);
    }
    window_ = {.first = seek_, .frames = window_frames()};
    decoded_ = std::make_shared<DecodedWindow>();
    DecodeJob job = task_.window(windows_->window(window_.first, window_.frames, rows), window_, *language_,
                                 previous_text(), decoded_);
    // The draft tokens continue the expected text, after the part that matches the text so far.
    const auto rest = draft_.draft(said_);
    job.prompt.draft.assign(rest.begin(), rest.end());
    return job;
  }

  std::vector<TranscriptSegment> finish(std::vector<Hypothesis> /*hypotheses*/) override {
    if (detected_ != nullptr) {
      language_ = detected_->language;
      language_probability_ = detected_->probability;
      detected_ = nullptr;
      return {};
    }
    const TranscribeOptions& options = task_.options();
    const std::shared_ptr<DecodedWindow> decoded = std::move(decoded_);
    if (decoded->is_silence(options)) {
      seek_ += window_.frames;
      return {};
    }
    // Split the text into segments. add_words() may change seek_ again, or reject all segments.
    SplitWindow cut = split_window(*decoded, window_, task_.tokens());
    seek_ += cut.advance;
    if (options.word_timestamps && !add_words(cut, std::move(decoded->words))) return {};
    for (TranscriptSegment& segment : cut.segments) keep(segment);
    // Leave out all text so far from later prompts.
    if (!options.condition_on_previous_text || decoded->temperature > options.prompt_reset_on_temperature) {
      prompt_begin_ = text_.size();
    }
    return std::move(cut.segments);
  }

  double seconds_done() const override {
    return restored(std::min(static_cast<double>(seek_) / LogMel::kFramesPerSecond, windows_->seconds()));
  }

  Transcript transcript() const override {
    const std::span said = std::span(text_).subspan(task_.initial_prompt().size());
    return {.text = task_.tokens().text(said),
            .language = std::string(language_ ? task_.language_code(*language_) : "en"),
            .language_probability = language_probability_,
            .duration = duration(windows_->seconds())};
  }

 private:
  void open(Recording recording) override {
    if (!recording.draft.empty()) draft_ = RepeatedText(task_.tokens().encode(" " + recording.draft));
    windows_.emplace(std::move(recording), task_.facts().mel);
  }

  bool read_window() override {
    if (!windows_->find_largest()) return false;
    if (clips_.empty()) choose_clips();
    return !find_window() || !language_ || windows_->reach(seek_, window_frames());
  }

  // Sets clips_ from the option clip_timestamps. If the last clip has no end, it ends with the recording.
  void choose_clips() {
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
  std::size_t window_frames() const {
    return std::min<std::size_t>(task_.facts().window_frames(), clips_[clip_].second - seek_);
  }

  // If the current clip is done, moves to the next clip. Returns false if there are no more clips.
  bool find_window() {
    while (clip_ < clips_.size()) {
      seek_ = std::max(seek_, clips_[clip_].first);
      if (seek_ < clips_[clip_].second) return true;
      if (++clip_ < clips_.size()) seek_ = clips_[clip_].first;
    }
    return false;
  }

  // Returns the previous text for the next prompt. If carry_initial_prompt is set and the initial prompt fills
  // the prompt, returns all text, from which TranscriptionTask::window() uses the end.
  TokenIds previous_text() const {
    std::size_t capacity = task_.max_previous_tokens(), begin = prompt_begin_, carried = 0;
    if (task_.options().carry_initial_prompt) {
      carried = task_.initial_prompt().size();
      begin = std::max(begin, carried);
      capacity = capacity > carried ? capacity - carried : text_.size();
    }
    const auto at = [this](std::size_t i) { return text_.begin() + static_cast<std::ptrdiff_t>(i); };
    TokenIds text(at(0), at(carried));
    text.insert(text.end(), at(text_.size() - std::min(capacity, text_.size() - begin)), text_.end());
    return text;
  }

  // Adds words. May set seek_ to the end of the speech. Returns false if all segments must be dropped.
  bool add_words(SplitWindow& cut, std::vector<WordTiming> words) {
    const TranscribeOptions& options = task_.options();
    add_word_timestamps(cut.segments, std::move(words),
                        {.end_of_text = task_.tokens().end_of_text,
                         .last_speech = last_speech_,
                         .prepend_punctuations = options.prepend_punctuations,
                         .append_punctuations = options.append_punctuations});
    if (!cut.ends_with_timestamp) {
      const auto end = speech_end(cut.segments);
      if (end && *end > window_.start()) seek_ = frame_at(*end);
    }
    const auto threshold = options.hallucination_silence_threshold;
    if (threshold && !skip_hallucinations(cut, *threshold)) return false;
    if (const auto end = speech_end(cut.segments)) last_speech_ = *end;
    return true;
  }

  // Drops segments next to silence that are probably hallucinated, and adjusts seek_. Returns false
  // if the whole window must be dropped. The next window then starts at the first segment with words.
  bool skip_hallucinations(SplitWindow& cut, double threshold) {
    std::vector<TranscriptSegment>& segments = cut.segments;
    const double begin = window_.start();
    const double window_end =
        begin + WindowPosition{.first = window_.first, .frames = task_.facts().window_frames()}.seconds();
    // After a long final silence, the next window starts where the speech ends.
    if (!cut.ends_with_timestamp) {
      const auto end = speech_end(segments);
      if (end && *end > begin) seek_ = window_end - *end > threshold ? frame_at(*end) : window_.first + window_.frames;
    }
    // If the first segment is improbable and follows a long silence, decode again from the start of this segment.
    const TranscriptSegment* first = next_words_segment(segments);
    if (first != nullptr && is_segment_anomaly(*first)) {
      const double gap = first->start - begin;
      if (gap > threshold) {
        seek_ = window_.first + frame_at(gap);
        return false;
      }
    }
    // Drop the first improbable segment with silence on both sides, and all later segments.
    double last_end = last_speech_;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const TranscriptSegment& segment = segments[i];
      if (segment.words.empty()) continue;
      if (is_segment_anomaly(segment)) {
        const TranscriptSegment* next = next_words_segment(std::span(segments).subspan(i + 1));
        const double next_start = next != nullptr ? next->words.front().start : begin + window_.seconds();
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

  // Makes a segment final. If the segment has no duration or only white space, clears its text.
  void keep(TranscriptSegment& segment) {
    if (segment.start == segment.end || strip(segment.text).empty()) {
      segment.text.clear();
      segment.tokens.clear();
      segment.words.clear();
    }
    segment.id = segment_count_++;
    text_.insert(text_.end(), segment.tokens.begin(), segment.tokens.end());
    std::ranges::copy_if(segment.tokens, std::back_inserter(said_),
                         [this](std::int32_t token) { return !task_.tokens().is_timestamp(token); });
    restore(segment);
  }

  const TranscriptionTask& task_;
  std::optional<MelWindows> windows_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> clips_;  // frames [begin, end)
  std::size_t clip_ = 0;                                        // index of the current clip
  std::uint64_t seek_ = 0;                                      // first frame of the next window
  std::optional<std::int32_t> language_;
  double language_probability_ = 1;
  TokenIds text_;                 // initial prompt and tokens of all segments
  std::size_t prompt_begin_ = 0;  // index in text_ of the first token that prompts may contain
  RepeatedText draft_;
  TokenIds said_;                  // text tokens of all segments, without timestamp tokens
  double last_speech_ = 0;         // end of the last word, in seconds
  std::size_t segment_count_ = 0;  // number of segments so far
  WindowPosition window_;          // the window that is being decoded
  std::shared_ptr<TranscriptionTask::Detected> detected_;
  std::shared_ptr<DecodedWindow> decoded_;
};

}  // namespace

std::unique_ptr<Transcriber> make_recording_transcriber(const TranscriptionTask& task, Recording recording) {
  return std::make_unique<RecordingTranscriber>(task, std::move(recording));
}

}  // namespace encdec
