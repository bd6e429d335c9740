#pragma once

#include <cstddef>
#include <optional>

#include "encdec/engine/base/error.h"
#include "encdec/models/speech/transcript/transcript.h"
#include "encdec/models/speech/transcription/recording.h"

namespace encdec {

// Where recordings come from when there are too many to open them all, and where transcripts go. All functions are
// called by one thread at a time.
class TranscribeStream {
 public:
  virtual ~TranscribeStream() = default;
  // The next one; nullopt at the end, also when it is asked again. A FileError is one of a recording that cannot be
  // read.
  virtual std::optional<Recording> next() = 0;
  // All of it, in the order in which recordings are finished.
  virtual void write(std::size_t recording, Transcript transcript) = 0;
  // A recording cannot be read. True goes on with the others; false ends the work with this error.
  virtual bool passes_over(std::size_t /*recording*/, const Error& /*error*/) { return false; }
};

}  // namespace encdec
