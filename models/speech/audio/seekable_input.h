#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/speech/audio/audio_input.h"

namespace encdec {

// The bytes of a recording for decoders in C that go back and forth: those of a pipe are all read first. Nothing is
// thrown through such a decoder: what fails within it comes out of rethrow().
class SeekableInput {
 public:
  // Throws FileError, also for more than 1 GiB by a pipe.
  explicit SeekableInput(AudioInput input);

  // What a decoder in C calls its own.
  static SeekableInput& of(void* handle) { return *static_cast<SeekableInput*>(handle); }

  const std::string& name() const { return input_.name(); }
  std::int64_t size() noexcept { return static_cast<std::int64_t>(*input_.source().size()); }
  std::int64_t place() const noexcept { return place_; }
  // As lseek(): `from` is SEEK_SET, SEEK_CUR or SEEK_END. The new place, which stays within the bytes that there are.
  std::int64_t seek(std::int64_t offset, int from) noexcept;
  // How many bytes there were; none after a failure.
  std::int64_t read(void* to, std::int64_t count) noexcept;
  void rethrow();

 private:
  AudioInput input_;
  std::vector<std::byte> kept_;
  std::int64_t place_ = 0;
  std::exception_ptr failure_;
};

}  // namespace encdec
