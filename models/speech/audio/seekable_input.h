#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "encdec/models/speech/audio/audio_input.h"

namespace encdec {

// The bytes of an audio file, for decoders in C that seek. A pipe is read to its end first. No exception passes through
// the decoder: it is kept until rethrow().
class SeekableInput {
 public:
  // Positions count from the first byte of `input` that is not consumed. Throws FileError, also for a pipe of more than
  // 1 GiB.
  explicit SeekableInput(AudioInput input);

  // Returns the object behind the handle that a C decoder passes to its callbacks.
  static SeekableInput& of(void* handle) { return *static_cast<SeekableInput*>(handle); }

  const std::string& name() const { return input_.name(); }
  std::int64_t size() noexcept { return static_cast<std::int64_t>(*input_.source().size() - begin_); }
  std::int64_t place() const noexcept { return place_; }
  // Seeks as lseek(): `from` is SEEK_SET, SEEK_CUR or SEEK_END. Returns the new position, which is limited to the range
  // from 0 to size().
  std::int64_t seek(std::int64_t offset, int from) noexcept;
  // Returns the number of bytes read; 0 after a failure.
  std::int64_t read(void* to, std::int64_t count) noexcept;
  // Throws the exception of a failed read(), if there is one, and forgets it.
  void rethrow();

 private:
  AudioInput input_;
  std::uint64_t begin_;          // position 0, in bytes of the source
  std::vector<std::byte> kept_;  // contents of a pipe
  std::int64_t place_ = 0;
  std::exception_ptr failure_;
};

}  // namespace encdec
