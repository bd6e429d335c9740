#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "encdec/models/speech/transcript/speech_time_map.h"
#include "encdec/models/speech/transcription/mel_windows.h"
#include "encdec/models/speech/transcription/speech_only.h"
#include "encdec/models/speech/transcription/transcription_task.h"

namespace encdec {

// Goes through one recording, window by window, as openai/whisper does (transcribe.py) or transformers
// (generation_whisper.py): each window's text tells where the next one begins and what it is told. Order of calls:
// (read()+ next() finish())*, until next() returns nullopt. For one thread at a time.
class RecordingTranscriber {
 public:
  // Throws FileError.
  RecordingTranscriber(const TranscriptionTask& task, Recording recording);

  // Reads the next second or two of the recording. Returns true when next() needs no more of it: before the first
  // window that is all of the recording. Throws FileError.
  bool read();
  // The next thing to decode; nullopt at the end. REQUIRES: read() has returned true since the last call.
  std::optional<DecodeJob> next();
  // Returns the segments that are final once the job of next() has been decoded.
  std::vector<TranscriptSegment> finish();

  // How far it is, in seconds of the recording.
  double seconds_done() const;
  // All that is known of it, at the end: but for the segments, which finish() has given.
  Transcript transcript() const;

 private:
  bool is_openai() const { return task_.speech_rules() == SpeechRules::openai; }
  void open_windows(Recording recording);
  void choose_clips();
  std::size_t window_frames() const;
  bool find_window();
  TokenIds earlier_text() const;
  void keep(TranscriptSegment& segment);
  void choose_told(double temperature);
  bool skip_hallucinations(std::vector<TranscriptSegment>& segments, const CutWindow& cut);

  const TranscriptionTask& task_;
  std::optional<SpeechTimeMap> times_;  // of a recording of which speech alone is heard
  std::optional<double> seconds_;       // of all of it
  Recording recording_;
  std::optional<SpeechFinder> finder_;  // until it has read all of the recording
  std::optional<MelWindows> windows_;
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
