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

// A whole file, open and mapped read-only. The kernel reads pages when they are touched, and processes that map the
// same file share them. Looking at the bytes of a file that is truncated or whose disk fails meanwhile ends this
// process with SIGBUS (encdec's programs name the file then): replace checkpoints by renaming, as package and hub
// clients do. read() throws instead.
class MappedFile final : public WeightFile {
 public:
  // Throws FileError, naming the path, unless it is a regular file (links are followed) that can be read.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);

  ~MappedFile() override;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

  bool read(std::span<const std::byte> bytes, std::byte* to) const override;

 private:
  explicit MappedFile(const std::filesystem::path& path);

  std::filesystem::path path_;
  int descriptor_ = -1;
  const std::byte* data_ = nullptr;  // null for an empty file, which cannot be mapped
  std::size_t size_ = 0;
};

// The content of a small file, copied: nothing that happens to the file afterwards matters. Throws FileError, naming
// the path, if it cannot be read, is not a regular file, or is larger than `max_bytes`.
std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace encdec
