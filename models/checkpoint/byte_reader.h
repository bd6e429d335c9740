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

// Files are little-endian, and tensors are views of them.
static_assert(std::endian::native == std::endian::little);

// What stands in a repository for a large file that was not downloaded.
inline void refuse_git_lfs_pointer(std::span<const std::byte> bytes, const std::string& file) {
  if (as_text(bytes).starts_with("version https://git-lfs")) {
    refuse(file, "a pointer of Git LFS, expected the file itself: git lfs pull gets it");
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
