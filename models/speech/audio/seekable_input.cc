#include "encdec/models/speech/audio/seekable_input.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "encdec/engine/base/refuse.h"

namespace encdec {

SeekableInput::SeekableInput(AudioInput input) : input_(std::move(input)), begin_(input_.place()) {
  if (input_.source().size()) return;
  constexpr std::size_t kPiece = 1 << 20, kMost = std::size_t{1} << 30;
  while (kept_.size() < kMost) {
    const std::size_t had = kept_.size();
    kept_.resize(had + kPiece);
    const std::size_t count = input_.read(std::span(kept_).subspan(had));
    kept_.resize(had + count);
    if (count == 0) break;
  }
  if (kept_.size() >= kMost) refuse(name(), "more than 1 GiB from a pipe, expected a file or WAV");
  input_ = AudioInput(bytes_of(kept_), name());
  begin_ = 0;
}

std::int64_t SeekableInput::seek(std::int64_t offset, int from) noexcept {
  const std::int64_t begin = from == SEEK_SET ? 0 : from == SEEK_CUR ? place_ : size();
  place_ = std::clamp<std::int64_t>(begin + offset, 0, size());
  return place_;
}

std::int64_t SeekableInput::read(void* to, std::int64_t count) noexcept {
  if (failure_ || count <= 0) return 0;
  try {
    ByteSource& source = input_.source();
    source.seek(begin_ + static_cast<std::uint64_t>(place_));
    const std::size_t done = source.read({static_cast<std::byte*>(to), static_cast<std::size_t>(count)});
    place_ += static_cast<std::int64_t>(done);
    return static_cast<std::int64_t>(done);
  } catch (...) {
    failure_ = std::current_exception();
    return 0;
  }
}

void SeekableInput::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace encdec
