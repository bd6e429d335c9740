#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "encdec/models/speech/speech_time_map.h"
#include "encdec/models/transcription/mel_windows.h"
#include "encdec/models/transcription/transcription_task.h"

namespace encdec {

// Goes through one recording, window by window, as openai/whisper does (transcribe.py) or transformers
// (generation_whisper.py): each window's text tells where the next one begins and what it is told. For one thread at a
// time.
class RecordingTranscriber {
 public:
  // Listens to all of the recording. Throws FileError.
  RecordingTranscriber(const TranscriptionTask& task, Recording recording);

  // The next thing to decode; nullopt at the end. It must be finished before the next one.
  std::optional<DecodeJob> next();
  // It was: gives the segments that are certain now.
  std::vector<TranscriptSegment> finish();

  // How far it is, in seconds of the recording.
  double seconds_done() const;
  // All that is known of it, at the end: but for the segments, which finish() has given.
  Transcript transcript() const;

 private:
  RecordingTranscriber(const TranscriptionTask& task, Recording recording,
                       std::optional<std::vector<SpeechSpan>> spans);
  bool is_openai() const { return task_.speech_rules() == SpeechRules::openai; }
  bool find_window();
  TokenIds earlier_text() const;
  void keep(TranscriptSegment& segment);
  void choose_told(double temperature);
  bool skip_hallucinations(std::vector<TranscriptSegment>& segments, const CutWindow& cut);

  const TranscriptionTask& task_;
  std::optional<SpeechTimeMap> times_;  // of a recording of which speech alone is heard
  std::optional<double> seconds_;       // of all of it
  MelWindows windows_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> clips_;  // frames
  std::size_t clip_ = 0;
  std::uint64_t seek_ = 0;
  std::optional<std::int32_t> language_;
  double language_probability_ = 1;
  TokenIds tokens_;           // of all segments, behind the initial prompt
  std::size_t reset_ = 0;     // those before are not told any more
  double last_speech_ = 0;    // seconds
  std::size_t segments_ = 0;  // that there are
  WindowPlace place_;         // of the window that is being decoded
  std::shared_ptr<TranscriptionTask::Detected> detected_;
  std::shared_ptr<DecodedWindow> decoded_;
};

}  // namespace encdec
