#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace encdec {

// Where the bytes of a recording come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fewer bytes only at the end. Throws FileError.
  virtual std::size_t read(std::span<std::byte> bytes) = 0;
  // All bytes that there are; nullopt for a pipe.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
  // Goes on from this byte on, where size() is known.
  virtual void seek(std::uint64_t /*place*/) {}
};

// A file, or what such a path stands for: a pipe, a terminal. Throws FileError, naming the path.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);
// A descriptor that stays open, such as that of the standard input.
std::unique_ptr<ByteSource> bytes_of(int descriptor, const std::string& name);
// Bytes in memory, which must live as long.
std::unique_ptr<ByteSource> bytes_of(std::span<const std::byte> bytes);

// The bytes of a recording, front to back, as those who decode it want them.
class AudioInput {
 public:
  // `name` begins every message.
  AudioInput(std::unique_ptr<ByteSource> source, std::string name);

  const std::string& name() const { return name_; }
  ByteSource& source() { return *source_; }

  // The next bytes without taking them: fewer only at the end. No more than a few kilobytes.
  std::span<const std::byte> peek(std::size_t count);
  // Fewer only at the end.
  std::size_t read(std::span<std::byte> bytes);
  std::uint64_t skip(std::uint64_t count);

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<std::byte> peeked_;
};

}  // namespace encdec
