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

// A transcriber of one recording, window by window, as openai/whisper (transcribe.py) or transformers
// (generation_whisper.py). The text of a window decides where the next window begins and what its prompt contains.
// Order of calls: (read+ next finish)* read+ next, where the last next() returns nullopt. One thread at a time.
// States, each until its work is done:
// 1. Finding speech: read() looks for speech in the whole recording. Only with a voice activity model.
// 2. Measuring: read() looks for the loudest frame in the whole recording, or in its speech.
// 3. Detecting the language: one job. Only if the language is unknown and there is something to decode.
// 4. Decoding: one job for each window.
// 5. At the end: next() returns nullopt.
class RecordingTranscriber {
 public:
  // Throws FileError.
  RecordingTranscriber(const TranscriptionTask& task, Recording recording);

  // Reads one or two more seconds of the recording. Returns true when enough has been read for next(). The first job
  // needs the whole recording. Throws FileError.
  bool read();
  // Returns the next job; nullopt at the end. REQUIRES: read() has returned true since the last call.
  std::optional<DecodeJob> next();
  // Returns the segments that are final now. REQUIRES: the job from next() has been decoded.
  std::vector<TranscriptSegment> finish();

  // Returns the time up to which the recording is transcribed, in seconds.
  double seconds_done() const;
  // Returns the transcript without its segments, which finish() has returned. REQUIRES: next() has returned nullopt.
  Transcript transcript() const;

 private:
  void open_windows(Recording recording);
  void choose_clips();
  std::size_t window_frames() const;
  bool find_window();
  void keep(TranscriptSegment& segment);

  const TranscriptionTask& task_;
  std::optional<SpeechTimeMap> times_;  // from times in the joined speech to times in the recording; unset without VAD
  std::optional<double> seconds_;       // duration of the recording; unset if unknown
  Recording recording_;
  std::optional<SpeechFinder> finder_;  // set while it reads the recording
  std::optional<MelWindows> windows_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> clips_;  // frames [begin, end)
  std::size_t clip_ = 0;                                        // current clip
  std::uint64_t seek_ = 0;                                      // first frame of the next window
  std::optional<std::int32_t> language_;
  double language_probability_ = 1;
  PromptText text_;
  RepeatedText draft_;
  TokenIds said_;                  // the text so far, without times
  double last_speech_ = 0;         // end of the last word, in seconds
  std::size_t segment_count_ = 0;  // number of segments so far
  WindowPlace place_;              // the window that is being decoded
  std::shared_ptr<TranscriptionTask::Detected> detected_;
  std::shared_ptr<DecodedWindow> decoded_;
};

}  // namespace encdec
