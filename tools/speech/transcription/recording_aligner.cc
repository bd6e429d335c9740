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

// All lengths are in encoder positions.
constexpr std::size_t kPositionsPerSecond = 50;
constexpr std::size_t kPause = 10;        // minimum silence in which a window may end
constexpr std::size_t kEdge = 5;          // words that end this close to the window's end may be truncated
constexpr std::size_t kLongSilence = 50;  // minimum silence to skip
constexpr std::size_t kBefore = 15;       // end of a skipped silence that is kept, before the speech
constexpr double kImprobable = 0.05;      // words with a lower probability are unaligned
constexpr std::size_t kLookAhead = 4000;  // number of words of the text to compare with a transcript
// Maximum size of a text: kLookAhead words of 32 bytes, plus 20 words of 8 bytes per second.
constexpr std::size_t kWordBytes = 32, kBytesPerSecond = 160;
constexpr std::size_t kDraft = 100;  // number of words of the text to use as draft tokens of a window

double time_of(std::size_t position) {
  return static_cast<double>(position) / kPositionsPerSecond;
}

bool is_aligned(const FoundWord& word) {
  return word.end > word.start && word.probability >= kImprobable;
}

// Aligns a recording with its text. At the end, returns one segment for each line of the text.
// The run time is proportional to the length of the recording. Memory grows with the text, and by 4 bytes
// for each 32 ms of audio. If possible, a window ends in a pause. Steps for each window:
// 1. The window is transcribed, and match_words() finds the words of the transcript in the text.
// 2. Words of the transcript that differ from the text are replaced by words of the text. The decoder reads the
//    result. find_words() gets the word times from the cross-attention. Improbable words stay unaligned.
// 3. The next window starts after the last aligned word. Without aligned words, it starts near this window's middle.
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
    // The job transcribes the window, then calls align() while the session still has the window's encoder output.
    end_ = cut(rows / kWhisperFramesPerRow);
    WindowPosition window{.first = seek_ * kWhisperFramesPerRow};
    window.frames = std::min<std::uint64_t>(end_ * kWhisperFramesPerRow, windows_->frames()) - window.first;
    decoded_ = std::make_shared<DecodedWindow>();
    decoded_->on_decoded = [this](Session& session, int source) { align(session, source); };
    DecodeJob job = task_.window(windows_->window(window.first, window.frames, rows), window, *language_, {}, decoded_);
    // Use the next words of the text as draft tokens.
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
    // After the last window, make all segments. The times of lines and words that were not found stay NaN.
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
  // The words that the decoder reads, with two values for each word:
  // - indices: the word's index in the text, or kNone if the word is only in the transcript.
  // - pairs: the index of the next pair if the word replaces words of the transcript, else kNone.
  struct Reading {
    std::vector<KnownWord> words = {};
    std::vector<std::size_t> indices = {};
    std::vector<std::size_t> pairs = {};
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void open(Recording recording) override {
    recording_ = std::move(recording);
    finder_.emplace(recording_, task_.voice_activity(), task_.options().vad);
  }

  // Throws InputError if check_text() does or if the recording is empty, and TokenizerError if the text is not UTF-8.
  bool read_window() override {
    // In the first pass over the recording, find the speech.
    if (finder_) {
      if (!finder_->read()) return false;
      spans_ = finder_->spans();
      finder_.reset();
      windows_.emplace(recording_, task_.facts().mel);
    }
    // In the second pass, find the loudest frame.
    if (!windows_->find_largest()) return false;
    // Mark the encoder positions with speech. If no speech was found, mark all positions.
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
    // Split the text into words. This requires the language.
    if (!text_) {
      text_.emplace(*recording_.text, task_.tokens(), task_.language_code(*language_));
      found_.resize(text_->words.size());
      seek_ = speech_after(0);
    }
    return is_done() || windows_->reach(seek_ * kWhisperFramesPerRow, task_.facts().window_frames());
  }

  // Throws InputError if the text has no words or is too long for the recording.
  void check_text() const {
    const std::string& text = *recording_.text;
    const auto most = kLookAhead * kWordBytes + static_cast<std::size_t>(windows_->seconds() * kBytesPerSecond);
    if (text.size() > most) {
      throw InputError(fmt::format("{}: a text of {} bytes, expected at most {} for {:.1f} s of audio", recording_.name,
                                   text.size(), most, windows_->seconds()));
    }
    if (!spoken_part(text).empty()) return;
    throw InputError(
        fmt::format("{}: a text of {} bytes without a word, expected words to align", recording_.name, text.size()));
  }

  bool is_done() const { return next_word_ >= text_->words.size() || seek_ >= speech_.size(); }

  // Returns the end of a window of at most `most` positions from seek_. To split no word, the window ends in
  // the last pause after its first quarter. Without such a pause, returns seek_ + `most`.
  std::size_t cut(std::size_t most) const {
    if (speech_.size() - seek_ <= most) return speech_.size();
    std::size_t silence = 0;
    for (std::size_t end = seek_ + most; end > seek_ + most / 4; --end) {
      silence = speech_[end - 1] ? 0 : silence + 1;
      if (silence == kPause) return end - 1 + kPause / 2;
    }
    return seek_ + most;
  }

  // Returns the start of the next window if the words before `position` are done. Skips a long silence.
  std::size_t speech_after(std::size_t position) const {
    const auto from = speech_.begin() + static_cast<std::ptrdiff_t>(position);
    const auto next = std::find(from, speech_.end(), true);
    const auto silence = static_cast<std::size_t>(next - from);
    if (next == speech_.end()) return speech_.size();
    return silence > kLongSilence ? position + silence - kBefore : position;
  }

  // Returns the words of the transcript `heard`. If replaces[i] is true, words of the text replace the transcript's
  // words between pairs i - 1 and i. Drops words that do not fit into the decoder's positions.
  Reading reading(const KnownText& heard, const WordPairs& pairs, const std::vector<bool>& replaces) const {
    Reading reading;
    // Number of free positions: the start tokens, notimestamps and end_of_text need the others.
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

  // Aligns the window, which was transcribed before. Sets seek_ to the start of the next window.
  void align(Session& session, int source) {
    const KnownText heard(task_.tokens().text(decoded_->tokens), task_.tokens(), task_.language_code(*language_));
    // If no word is found, the next window starts near the middle of this window.
    const std::size_t size = end_ - seek_, skipped = speech_after(cut(size < kPositionsPerSecond ? size : size / 2));
    const auto next = std::span(text_->words).subspan(next_word_);
    WordPairs pairs = match_words(heard.words, next.first(std::min(next.size(), kLookAhead)));
    if (pairs.empty()) {
      seek_ = skipped;
      return;
    }
    // Add a pair for the end of the transcript, unless the transcript was truncated and may end in repetition.
    const std::size_t rest = heard.words.size() - pairs.back().first - 1, after = pairs.back().second + 1;
    if (decoded_->has_ended) pairs.emplace_back(heard.words.size(), after + std::min(rest, next.size() - after));
    std::vector<std::size_t> positions;
    for (std::size_t i = seek_; i < end_; ++i) {
      if (speech_[i]) positions.push_back(i - seek_);
    }
    // Between two pairs, let the text replace the transcript if both have words, and the text does not have many more.
    std::vector<bool> replaces;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::size_t instead = pairs[i].first - (i == 0 ? 0 : pairs[i - 1].first + 1);
      const std::size_t known = pairs[i].second - (i == 0 ? 0 : pairs[i - 1].second + 1);
      replaces.push_back(instead > 0 && known > 0 && known <= 2 * instead + 2);
    }
    // If a replacing word is not found, restore the transcript between its two pairs, and read again.
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

  // Keeps the words up to the last aligned word of the text that is not truncated. Returns false without such a word.
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
  Recording recording_;
  std::optional<SpeechFinder> finder_;  // unset after the first pass
  std::vector<SpeechSpan> spans_;
  std::optional<MelWindows> windows_;
  std::vector<bool> speech_;  // for each encoder position of the recording, whether it has speech
  std::optional<std::int32_t> language_;
  std::optional<KnownText> text_;
  std::vector<FoundWord> found_;    // one for each word of the text; positions in the whole recording
  std::size_t next_word_ = 0;       // index of the first word that later windows may contain
  std::size_t seek_ = 0, end_ = 0;  // start and end of the current window
  std::shared_ptr<TranscriptionTask::Detected> detected_;
  std::shared_ptr<DecodedWindow> decoded_;
};

}  // namespace

TranscribeOptions alignment_options(const TranscribeOptions& options) {
  TranscribeOptions own;
  own.language = options.language;
  own.vad_model = options.vad_model;
  own.vad = options.vad;
  // Detect even short pauses, because words are aligned only with speech.
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
