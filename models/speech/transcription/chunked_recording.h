#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "encdec/engine/base/mutex.h"
#include "encdec/models/speech/transcript/chunk_joining.h"
#include "encdec/models/speech/transcript/transcript.h"
#include "encdec/models/speech/transcription/recording.h"

namespace encdec {

class TranscriptionTask;

// A recording in chunks of TranscribeOptions::chunk_length. Neighbouring chunks overlap by a third of that
// (transformers automatic_speech_recognition.py, chunk_iter). Chunks do not depend on each other, so they can be
// transcribed in parallel. Thread-safe.
class ChunkedRecording {
 public:
  // Throws FileError.
  ChunkedRecording(const TranscriptionTask& task, const Recording& recording);

  struct Chunk {
    std::size_t number = 0;
    Recording recording;
  };
  // Returns the next chunk; nullopt at the end. Throws FileError.
  std::optional<Chunk> next();
  // Returns whether next() has returned the last chunk.
  bool is_cut() const;

  // Stores the transcript of a chunk. Returns true if all chunks of the recording have a transcript now.
  bool add(std::size_t number, Transcript transcript);
  // Returns the transcript of the whole recording, with segments joined from those of the chunks. The tokens of these
  // segments contain no timestamps. REQUIRES: add() has returned true.
  Transcript transcript() const;

  double seconds_done() const;

 private:
  double begin_of(std::size_t chunk) const;  // in seconds

  const TranscriptionTask& task_;
  const std::string name_;
  const std::size_t size_, shared_;  // samples of a chunk, and a sixth of that; neighbours overlap by 2 * shared_
  mutable Mutex mutex_;
  Recording::Read read_ ENCDEC_GUARDED_BY(mutex_);
  // Samples of the next chunk, and one more to see whether that chunk is the last.
  std::vector<float> samples_ ENCDEC_GUARDED_BY(mutex_);
  std::uint64_t read_samples_ ENCDEC_GUARDED_BY(mutex_) = 0;
  bool is_at_end_ ENCDEC_GUARDED_BY(mutex_) = false;
  std::vector<TranscribedChunk> chunks_ ENCDEC_GUARDED_BY(mutex_);
  std::map<std::size_t, Transcript> transcripts_ ENCDEC_GUARDED_BY(mutex_);  // by number of the chunk
};

}  // namespace encdec
