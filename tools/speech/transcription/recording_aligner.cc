#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/families/whisper.h"
#include "encdec/speech/transcription/alignment_reader.h"
#include "encdec/speech/transcription/mel_windows.h"

namespace encdec {
namespace {

// Lengths are in positions of the encoder.
constexpr std::size_t kPositionsPerSecond = 50;
constexpr std::size_t kPause = 10;        // silence in which a window may end
constexpr std::size_t kEdge = 5;          // a word that ends later in a window may be cut off
constexpr std::size_t kLongSilence = 50;  // longer silence is skipped
constexpr std::size_t kBefore = 15;       // silence before speech that is not skipped
constexpr double kImprobable = 0.05;      // words below this are unaligned
constexpr std::size_t kLookAhead = 4000;  // words of the text in which heard words are searched for
// Maximum bytes of a text: kLookAhead words, and 20 words of 8 bytes for each second.
constexpr std::size_t kWordBytes = 32, kBytesPerSecond = 160;
constexpr std::size_t kDraft = 100;  // words of the text that are expected in a window

double time_of(std::size_t position) {
  return static_cast<double>(position) / kPositionsPerSecond;
}

bool is_aligned(const FoundWord& word) {
  return word.end > word.start && word.probability >= kImprobable;
}

// An aligner of a recording with its text. The segments, which are returned at the end, are the lines of the text. Time
// grows with the length of the recording, memory only with the text and by 4 bytes for each 32 ms. Each window ends in
// a pause if there is one. Steps of a window:
// 1. It is transcribed, and the transcript is searched for in the text (match_words()).
// 2. The decoder reads the transcript, with words of the text in place of different ones, and its attention yields
//    the times (find_words()). Improbable words are unaligned.
// 3. The next window begins behind the last word of the text or, if there is none, near the middle of this one.
class RecordingAligner final : public Transcriber {
 public:
  // REQUIRES: recording.text is set; the options of `task` are alignment_options().
  RecordingAligner(const TranscriptionTask& task, Recording recording)
      : Transcriber(std::move(recording), nullptr, {}), task_(task), language_(task.language()) {}

  std::optional<DecodeJob> next() override {
    const std::size_t rows = task_.facts().window_frames();
    if (!language_) {
      detected_ = std::make_shared<TranscriptionTask::Detected>();
      return task_.detection(windows_->window(0, rows, rows), detected_);
    }
    if (is_done()) return std::nullopt;
    end_ = cut(rows / kWhisperFramesPerRow);
    WindowPlace place{.first = seek_ * kWhisperFramesPerRow};
    place.frames = std::min<std::uint64_t>(end_ * kWhisperFramesPerRow, windows_->frames()) - place.first;
    decoded_ = std::make_shared<DecodedWindow>();
    decoded_->then = [this](Session& session, int source) { align(session, source); };
    DecodeJob job = task_.window(windows_->window(place.first, place.frames, rows), place, *language_, {}, decoded_);
    for (std::size_t i = next_word_; i < std::min(next_word_ + kDraft, text_->words.size()); ++i) {
      const TokenIds& tokens = text_->words[i].tokens;
      job.prompt.draft.insert(job.prompt.draft.end(), tokens.begin(), tokens.end());
    }
    return job;
  }

  std::vector<TranscriptSegment> finish(std::vector<Hypothesis> /*hypotheses*/) override {
    if (const auto detected = std::exchange(detected_, nullptr)) {
      language_ = detected->language;
      return {};
    }
    std::vector<TranscriptSegment> lines;
    if (!is_done()) return lines;
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    for (const std::string& text : text_->lines) {
      lines.push_back({.id = lines.size(), .start = kUnknown, .end = kUnknown, .text = text});
    }
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const KnownWord& known = text_->words[i];
      TranscriptSegment& line = lines[known.line];
      TranscriptWord& word = line.words.emplace_back(TranscriptWord{known.text, kUnknown, kUnknown});
      if (found_[i].end == 0) continue;
      word = {known.text, time_of(found_[i].start), time_of(found_[i].end), found_[i].probability};
      if (std::isnan(line.start)) line.start = word.start;
      line.end = word.end;
    }
    return lines;
  }

  double seconds_done() const override { return std::min(time_of(seek_), windows_->seconds()); }

  Transcript transcript() const override {
    return {.text = *recording_.text,
            .language = std::string(task_.language_code(*language_)),
            .duration = windows_->seconds()};
  }

 private:
  // Words that the decoder reads.
  struct Reading {
    std::vector<KnownWord> words = {};
    std::vector<std::size_t> indices = {};  // in the text; kNone for a word that is not in it
    std::vector<std::size_t> pairs = {};    // for a word in place of what was heard, the next pair; else kNone
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void open(Recording recording) override {
    recording_ = std::move(recording);
    finder_.emplace(recording_, task_.voice_activity(), task_.options().vad);
  }

  // Throws InputError as check_text() and for a recording without samples, TokenizerError for a text that is not UTF-8.
  bool read_window() override {
    if (finder_) {
      if (!finder_->read()) return false;
      spans_ = finder_->spans();
      finder_.reset();
      windows_.emplace(recording_, task_.facts().mel);
    }
    if (!windows_->find_largest()) return false;
    if (speech_.empty()) {
      check_text();
      constexpr std::size_t kSamples = AudioReader::kSampleRate / kPositionsPerSecond;
      speech_.resize((windows_->frames() + 1) / kWhisperFramesPerRow, spans_.empty());
      for (const SpeechSpan& span : spans_) {
        const std::size_t end = std::min(span.end / kSamples, speech_.size());
        for (std::size_t i = (span.start + kSamples / 2) / kSamples; i < end; ++i) speech_[i] = true;
      }
    }
    if (speech_.empty())
      throw InputError(fmt::format("{}: no audio, expected a recording of the text", recording_.name));
    if (!language_) return true;
    if (!text_) {
      text_.emplace(*recording_.text, task_.tokens(), task_.language_code(*language_));
      found_.resize(text_->words.size());
      seek_ = speech_after(0);
    }
    return is_done() || windows_->reach(seek_ * kWhisperFramesPerRow, task_.facts().window_frames());
  }

  // Throws InputError for a text without words, and for one that is too long for the recording.
  void check_text() const {
    const std::string& text = *recording_.text;
    const auto most = kLookAhead * kWordBytes + static_cast<std::size_t>(windows_->seconds() * kBytesPerSecond);
    if (text.size() > most) {
      throw InputError(fmt::format("{}: a text of {} bytes, expected at most {} for {:.1f} s of sound", recording_.name,
                                   text.size(), most, windows_->seconds()));
    }
    if (!spoken_part(text).empty()) return;
    throw InputError(
        fmt::format("{}: a text of {} bytes without a word, expected words to align", recording_.name, text.size()));
  }

  bool is_done() const { return next_word_ >= text_->words.size() || seek_ >= speech_.size(); }

  // Returns the end of a piece of at most `most` positions from seek_: in its last pause, if there is one after the
  // first quarter, so that no word is cut.
  std::size_t cut(std::size_t most) const {
    if (speech_.size() - seek_ <= most) return speech_.size();
    std::size_t silence = 0;
    for (std::size_t end = seek_ + most; end > seek_ + most / 4; --end) {
      silence = speech_[end - 1] ? 0 : silence + 1;
      if (silence == kPause) return end - 1 + kPause / 2;
    }
    return seek_ + most;
  }

  // Returns where to go on: behind a long silence.
  std::size_t speech_after(std::size_t position) const {
    const auto from = speech_.begin() + static_cast<std::ptrdiff_t>(position);
    const auto next = std::find(from, speech_.end(), true);
    const auto silence = static_cast<std::size_t>(next - from);
    if (next == speech_.end()) return speech_.size();
    return silence > kLongSilence ? position + silence - kBefore : position;
  }

  // Returns what was heard. If replaces[i], the words of the text before pair i take the place of what was heard there.
  Reading reading(const KnownText& heard, const WordPairs& pairs, const std::vector<bool>& replaces) const {
    Reading reading;
    std::size_t left = static_cast<std::size_t>(task_.facts().context) - task_.start_tokens(*language_).size() - 2;
    const auto add = [&](const KnownWord& word, std::size_t index, std::size_t pair) {
      if (word.tokens.size() > left) return;
      left -= word.tokens.size();
      reading.words.push_back(word);
      reading.indices.push_back(index);
      reading.pairs.push_back(pair);
    };
    std::size_t next_heard = 0, next_known = next_word_;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::size_t known = next_word_ + pairs[i].second;
      for (; replaces[i] && next_known < known; ++next_known) add(text_->words[next_known], next_known, i);
      for (; !replaces[i] && next_heard < pairs[i].first; ++next_heard) add(heard.words[next_heard], kNone, kNone);
      if (pairs[i].first < heard.words.size()) add(heard.words[pairs[i].first], known, kNone);
      next_heard = pairs[i].first + 1;
      next_known = known + 1;
    }
    return reading;
  }

  // Aligns the window after it has been transcribed.
  void align(Session& session, int source) {
    const KnownText heard(task_.tokens().text(decoded_->tokens), task_.tokens(), task_.language_code(*language_));
    // If nothing is found, the next window begins near the middle of this one.
    const std::size_t size = end_ - seek_, skipped = speech_after(cut(size < kPositionsPerSecond ? size : size / 2));
    const auto next = std::span(text_->words).subspan(next_word_);
    WordPairs pairs = match_words(heard.words, next.first(std::min(next.size(), kLookAhead)));
    if (pairs.empty()) {
      seek_ = skipped;
      return;
    }
    // The end, unless one word may have been heard again and again.
    const std::size_t rest = heard.words.size() - pairs.back().first - 1, after = pairs.back().second + 1;
    if (decoded_->has_ended) pairs.emplace_back(heard.words.size(), after + std::min(rest, next.size() - after));
    std::vector<std::size_t> positions;
    for (std::size_t i = seek_; i < end_; ++i) {
      if (speech_[i]) positions.push_back(i - seek_);
    }
    std::vector<bool> replaces;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::size_t instead = pairs[i].first - (i == 0 ? 0 : pairs[i - 1].first + 1);
      const std::size_t known = pairs[i].second - (i == 0 ? 0 : pairs[i - 1].second + 1);
      replaces.push_back(instead > 0 && known > 0 && known <= 2 * instead + 2);
    }
    Reading given;
    std::vector<FoundWord> words;
    for (bool is_final = false; !is_final;) {
      given = reading(heard, pairs, replaces);
      words = find_words(session, source, task_, *language_, given.words, positions);
      is_final = true;
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (given.pairs[i] == kNone || is_aligned(words[i])) continue;
        replaces[given.pairs[i]] = is_final = false;
      }
    }
    if (!keep(given, words)) seek_ = skipped;
  }

  // Keeps the words up to the last word of the text that is aligned and surely whole. Returns false if there is none.
  bool keep(const Reading& given, std::span<const FoundWord> words) {
    const bool is_cut = end_ < speech_.size() && speech_[end_ - 1];
    const auto is_whole = [&](std::size_t i) {
      return given.indices[i] != kNone && is_aligned(words[i]) && !(is_cut && seek_ + words[i].end + kEdge > end_);
    };
    std::size_t count = words.size();
    while (count > 0 && !is_whole(count - 1)) --count;
    if (count == 0) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (given.indices[i] == kNone || !is_aligned(words[i])) continue;
      found_[given.indices[i]] = {seek_ + words[i].start, seek_ + words[i].end, words[i].probability};
    }
    next_word_ = given.indices[count - 1] + 1;
    seek_ = speech_after(seek_ + words[count - 1].end);
    return true;
  }

  const TranscriptionTask& task_;
  Recording recording_;                 // with the text
  std::optional<SpeechFinder> finder_;  // until it has read the recording
  std::vector<SpeechSpan> spans_;       // speech
  std::optional<MelWindows> windows_;
  std::vector<bool> speech_;  // by position of the encoder in the whole recording
  std::optional<std::int32_t> language_;
  std::optional<KnownText> text_;
  std::vector<FoundWord> found_;    // by word of the text, in the whole recording
  std::size_t next_word_ = 0;       // index of the first word that no window has passed
  std::size_t seek_ = 0, end_ = 0;  // positions of the current window
  std::shared_ptr<TranscriptionTask::Detected> detected_;
  std::shared_ptr<DecodedWindow> decoded_;
};

}  // namespace

TranscribeOptions alignment_options(const TranscribeOptions& options) {
  TranscribeOptions own;
  own.language = options.language;
  own.vad_model = options.vad_model;
  own.vad = options.vad;
  own.vad.min_silence_duration_ms = 160;
  own.vad.speech_pad_ms = 20;
  own.temperatures = {0};
  own.beam_size = 1;
  own.timestamps = false;
  return own;
}

std::unique_ptr<Transcriber> make_recording_aligner(const TranscriptionTask& task, Recording recording) {
  return std::make_unique<RecordingAligner>(task, std::move(recording));
}

}  // namespace encdec
