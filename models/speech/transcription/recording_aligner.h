#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "encdec/models/speech/transcription/alignment_reader.h"
#include "encdec/models/speech/transcription/mel_windows.h"
#include "encdec/models/speech/transcription/word_matching.h"

namespace encdec {

// Returns the options of the task of a RecordingAligner: of those given only language and voice activity.
TranscribeOptions alignment_options(const TranscribeOptions& options);

// An aligner of a recording with its text. The segments, which are returned at the end, are the lines of the text. Time
// grows with the length of the recording, memory only with the text and by 4 bytes for each 32 ms. Each window, which
// ends in a pause if there is one:
// 1. is transcribed, and what was heard is searched for in the text (match_words()).
// 2. The decoder reads what was heard, with the words of the text in place of different ones, and its attention yields
//    the times (find_words()). Improbable words are unaligned.
// 3. The next window begins behind the last word of the text or, if there is none, near the middle of this one.
class RecordingAligner final : public Transcriber {
 public:
  // REQUIRES: recording.text is set; the options of `task` are alignment_options().
  RecordingAligner(const TranscriptionTask& task, Recording recording);

  std::optional<DecodeJob> next() override;
  std::vector<TranscriptSegment> finish(std::vector<Hypothesis> hypotheses) override;
  double seconds_done() const override;
  Transcript transcript() const override;

 private:
  // Words that the decoder reads.
  struct Reading {
    std::vector<KnownWord> words = {};
    std::vector<std::size_t> indices = {};  // in the text; kNone for a word that is not in it
    std::vector<std::size_t> pairs = {};    // for a word in place of what was heard, the next pair; else kNone
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void open(Recording recording) override;
  // Throws InputError as check_text() and for a recording without samples, TokenizerError for a text that is not UTF-8.
  bool read_window() override;
  void check_text() const;
  bool is_done() const { return next_word_ >= text_->words.size() || seek_ >= speech_.size(); }
  std::size_t cut(std::size_t most) const;
  std::size_t speech_after(std::size_t position) const;
  Reading reading(const KnownText& heard, const WordPairs& pairs, const std::vector<bool>& replaces) const;
  void align(Session& session, int source);
  bool keep(const Reading& given, std::span<const FoundWord> words);

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

}  // namespace encdec
