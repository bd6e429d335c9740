#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// File formats store little-endian numbers, and tensors are views of the mapped files.
static_assert(std::endian::native == std::endian::little);

// Throws FileError for a Git LFS pointer, the text that replaces a large file in a repository.
inline void refuse_git_lfs_pointer(std::span<const std::byte> bytes, const std::string& file) {
  if (as_text(bytes).starts_with("version https://git-lfs")) {
    refuse(file, "a Git LFS pointer, expected the file itself: run git lfs pull");
  }
}

// Reads little-endian numbers and byte ranges in sequence, never beyond the end of the file.
class ByteReader {
 public:
  // Every error message begins with `file`. REQUIRES: `bytes` and `file` outlive the reader.
  ByteReader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  const std::string& file() const { return file_; }

  // Returns the next `count` bytes. Throws FileError, naming `what`, if fewer bytes are left.
  std::span<const std::byte> take(std::uint64_t count, std::string_view what) {
    if (count > left()) {
      refuse(file_, "{} bytes left at byte {}, expected {} of {}: the file is truncated or damaged", left(), position_,
             count, what);
    }
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }

  template <std::unsigned_integral T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::size_t position_ = 0;
};

}  // namespace encdec
