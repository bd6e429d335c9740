#pragma once

#include <cstddef>
#include <optional>

#include "encdec/engine/base/error.h"
#include "encdec/models/speech/transcript/transcript.h"
#include "encdec/models/speech/transcription/recording.h"

namespace encdec {

// A source of recordings and a sink for transcripts, for more of them than can be open at a time. The thread
// that called transcribe() calls its functions.
class TranscribeStream {
 public:
  virtual ~TranscribeStream() = default;
  // Returns the next recording; nullopt at the end and in later calls. Throws FileError if this recording cannot be
  // read; then skips() decides whether to continue.
  virtual std::optional<Recording> next() = 0;
  // Receives a finished transcript. Transcripts come in the order in which they are finished. An exception thrown here
  // ends transcribe(), which throws it.
  virtual void write(std::size_t recording, Transcript transcript) = 0;
  // Called when a recording cannot be read, with the FileError. True: the recording is skipped. False: transcribe()
  // throws `error`.
  virtual bool skips(std::size_t /*recording*/, const Error& /*error*/) { return false; }
};

}  // namespace encdec
