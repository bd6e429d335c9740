#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "encdec/engine/base/weights.h"

namespace encdec {

// The content of a file, mapped or in memory: what parsers take.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps the bytes alive
  std::string name;                   // begins every message
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A whole file, mapped read-only. The kernel reads pages when they are touched, and processes that map the same file
// share them.
// A file that is truncated or whose disk fails while it is mapped ends this process with SIGBUS when the lost part is
// read: replace checkpoints by renaming, as package and hub clients do.
class MappedFile final : public ReloadableMemory {
 public:
  // Throws FileError, naming the path, unless it is a regular file (links are followed) that can be read.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);

  ~MappedFile() override;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // The whole pages among these bytes of the file leave this process, and come again when they are read.
  void release(std::span<const std::byte> bytes) const override;

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_;
  std::size_t size_;
};

// The content of a small file, copied: nothing that happens to the file afterwards matters. Throws FileError, naming
// the path, if it cannot be read, is not a regular file, or is larger than `max_bytes`.
std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace encdec
