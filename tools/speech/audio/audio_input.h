#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace encdec {

// A stream of bytes: a file, a pipe or memory.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills `bytes`. Returns the number of bytes read, which is smaller only at the end. Throws FileError.
  virtual std::size_t read(std::span<std::byte> bytes) = 0;
  // Returns nullopt for a pipe.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
  // REQUIRES: size() is known.
  virtual void seek(std::uint64_t /*position*/) {}
};

// Opens a file, named pipe or terminal. Throws FileError.
std::unique_ptr<ByteStream> open_bytes(const std::string& path);
// Returns a stream that reads a file descriptor and does not close it.
std::unique_ptr<ByteStream> bytes_of(int descriptor, const std::string& name);
// REQUIRES: `bytes` outlive the stream.
std::unique_ptr<ByteStream> bytes_of(std::span<const std::byte> bytes);

// The bytes of an audio file, which are read from front to back.
class AudioInput {
 public:
  // Every error message begins with `name`.
  AudioInput(std::unique_ptr<ByteStream> stream, std::string name);

  const std::string& name() const { return name_; }
  ByteStream& stream() { return *stream_; }
  // Returns the number of bytes consumed.
  std::uint64_t position() const { return position_; }

  // Returns a copy of the next `count` bytes, without consuming them. Returns fewer bytes only at the end.
  std::span<const std::byte> peek(std::size_t count);
  // These functions read or skip bytes. They return the number of bytes, which is smaller only at the end.
  std::size_t read(std::span<std::byte> bytes);
  std::uint64_t skip(std::uint64_t count);

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  std::vector<std::byte> peeked_;
  std::uint64_t position_ = 0;
};

}  // namespace encdec
