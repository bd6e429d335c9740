#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/speech/transcript/chunk_joining.h"
#include "encdec/models/speech/transcription/recording.h"
#include "encdec/models/speech/transcription/transcription_task.h"

namespace encdec {

// A recording in chunks of TranscribeOptions::chunk_length, each of which shares a sixth with the one before and the
// one behind (transformers automatic_speech_recognition.py, chunk_iter): they know nothing of one another, so all of
// them may be transcribed at once. For any number of threads, but for next().
class ChunkedRecording {
 public:
  // Throws FileError.
  ChunkedRecording(const TranscriptionTask& task, const Recording& recording);

  // The next one, with its number; nullopt at the end. For one thread at a time. Throws FileError.
  struct Chunk {
    std::size_t number = 0;
    Recording recording;
  };
  std::optional<Chunk> next();
  // Whether the last one was given.
  bool is_cut() const { return is_at_end_; }

  // What was said in a chunk. True if this is the last one that was missing: then there is a transcript().
  bool add(std::size_t number, Transcript transcript);
  // Of all of the recording, with its segments: those of the chunks, joined. Their tokens are of text alone.
  Transcript transcript() const;

  double seconds_done() const;

 private:
  double begin_of(std::size_t chunk) const;  // in seconds

  const TranscriptionTask& task_;
  std::string name_;
  Recording::Read read_;
  std::size_t size_, shared_;   // of chunks, in samples: in all, and with a neighbour
  std::vector<float> samples_;  // of the next chunk, and one behind it that tells whether it is the last one
  std::uint64_t read_samples_ = 0;
  bool is_at_end_ = false;

  mutable std::mutex mutex_;
  std::vector<HeardChunk> chunks_;
  std::map<std::size_t, Transcript> transcripts_;  // of chunks, by number
  bool is_cut_ = false;                            // no chunk comes behind these
};

}  // namespace encdec
