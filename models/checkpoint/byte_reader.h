#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "encdec/engine/error.h"

namespace encdec {

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What stands in a repository for a large file that was not downloaded.
inline void refuse_git_lfs_pointer(std::span<const std::byte> bytes, const std::string& file) {
  if (as_text(bytes).starts_with("version https://git-lfs")) {
    throw FileError(fmt::format("{}: a pointer of Git LFS, expected the file itself: git lfs pull gets it", file));
  }
}

// Takes little-endian numbers and runs of bytes off a file, one after another, and never beyond its end.
class ByteReader {
 public:
  // `file` begins every message; both must outlive the reader.
  ByteReader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  const std::string& file() const { return file_; }

  // The next `count` bytes. Throws FileError, saying that `what` is cut off, if they are not all there.
  std::span<const std::byte> take(std::uint64_t count, std::string_view what) {
    if (count > left()) {
      throw FileError(fmt::format("{}: {} bytes left at byte {}, expected {} of {}: the file is truncated or damaged",
                                  file_, left(), position_, count, what));
    }
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }

  template <std::unsigned_integral T>
  T number(std::string_view what) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const std::byte byte : take(sizeof(T), what)) {
      value |= std::to_integer<std::uint64_t>(byte) << shift;
      shift += 8;
    }
    return static_cast<T>(value);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::size_t position_ = 0;
};

}  // namespace encdec
