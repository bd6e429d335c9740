#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "encdec/models/speech/transcription/mel_windows.h"
#include "encdec/models/speech/transcription/transcription_task.h"

namespace encdec {

// A transcriber for TranscriptionTask, as openai/whisper (transcribe.py). The text of a window decides where the next
// window begins and what its prompt contains. The first job needs the whole recording.
// States after the speech is found, each until its work is done:
// 1. Measuring: read() looks for the loudest frame in the whole recording, or in its speech.
// 2. Detecting the language: one job. Only if the language is unknown and there is something to decode.
// 3. Decoding: one job for each window.
// 4. At the end: next() returns nullopt.
class RecordingTranscriber final : public Transcriber {
 public:
  // Throws FileError.
  RecordingTranscriber(const TranscriptionTask& task, Recording recording);

  std::optional<DecodeJob> next() override;
  std::vector<TranscriptSegment> finish(std::vector<Hypothesis> hypotheses) override;
  double seconds_done() const override;
  Transcript transcript() const override;

 private:
  void open(Recording recording) override;
  bool read_window() override;
  void choose_clips();
  std::size_t window_frames() const;
  bool find_window();
  TokenIds previous_text() const;
  bool add_words(CutWindow& cut, std::vector<WordTiming> words);
  bool skip_hallucinations(CutWindow& cut, double threshold);
  void keep(TranscriptSegment& segment);

  const TranscriptionTask& task_;
  std::optional<MelWindows> windows_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> clips_;  // frames [begin, end)
  std::size_t clip_ = 0;                                        // current clip
  std::uint64_t seek_ = 0;                                      // first frame of the next window
  std::optional<std::int32_t> language_;
  double language_probability_ = 1;
  TokenIds text_;                 // the initial prompt and the tokens of all segments
  std::size_t prompt_begin_ = 0;  // prompts contain tokens of text_ from this index on
  RepeatedText draft_;
  TokenIds said_;                  // the text so far, without times
  double last_speech_ = 0;         // end of the last word, in seconds
  std::size_t segment_count_ = 0;  // number of segments so far
  WindowPlace place_;              // the window that is being decoded
  std::shared_ptr<TranscriptionTask::Detected> detected_;
  std::shared_ptr<DecodedWindow> decoded_;
};

}  // namespace encdec
