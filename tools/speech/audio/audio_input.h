#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace encdec {

// A source of bytes: a file, a pipe or memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `bytes` and returns the number of bytes read, which is smaller only at the end. Throws FileError.
  virtual std::size_t read(std::span<std::byte> bytes) = 0;
  // Returns the total number of bytes; nullopt for a pipe.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
  // Continues reading at byte `place`. Throws FileError. REQUIRES: size() is known.
  virtual void seek(std::uint64_t /*place*/) {}
};

// Opens a path: a file, a named pipe or a terminal. Throws FileError that names the path.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);
// Reads from a descriptor, such as that of standard input. Does not close it.
std::unique_ptr<ByteSource> bytes_of(int descriptor, const std::string& name);
// Reads from memory. REQUIRES: `bytes` outlive the source.
std::unique_ptr<ByteSource> bytes_of(std::span<const std::byte> bytes);

// The bytes of an audio file, read from front to back.
class AudioInput {
 public:
  // `name` begins every error message.
  AudioInput(std::unique_ptr<ByteSource> source, std::string name);

  const std::string& name() const { return name_; }
  ByteSource& source() { return *source_; }
  // Returns the number of bytes consumed.
  std::uint64_t place() const { return place_; }

  // Returns the next `count` bytes without consuming them; fewer only at the end. REQUIRES: `count` is small, as all
  // these bytes are kept in memory.
  std::span<const std::byte> peek(std::size_t count);
  // Fills `bytes` and returns the number of bytes read, which is smaller only at the end.
  std::size_t read(std::span<std::byte> bytes);
  // Skips `count` bytes and returns the number of bytes skipped, which is smaller only at the end.
  std::uint64_t skip(std::uint64_t count);

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<std::byte> peeked_;
  std::uint64_t place_ = 0;
};

}  // namespace encdec
