#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "encdec/engine/base/weights.h"

namespace encdec {

// The content of a file, mapped or in memory: the input of parsers.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps `bytes` alive
  std::string name;                   // start of every error message
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A whole file, open and mapped read-only. Processes that map the same file share its pages. If the file is truncated
// or its disk fails, accessing the mapped bytes ends the process with SIGBUS (encdec's programs then name the file);
// read() throws instead. So replace checkpoints by renaming, as package managers and hub clients do.
class MappedFile final : public WeightFile {
 public:
  // Opens a file; symlinks are followed. Throws FileError unless it is a readable regular file.
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

// Returns the content of a small file. Throws FileError, naming the path, if the file cannot be
// read, is not a regular file, or is larger than `max_bytes`.
std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace encdec
