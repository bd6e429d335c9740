#include "encdec/speech/audio/audio_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

// Reads a file descriptor. size() is known only for a regular file.
class DescriptorStream final : public ByteStream {
 public:
  DescriptorStream(int descriptor, bool is_owned, std::string name)
      : descriptor_(descriptor), is_owned_(is_owned), name_(std::move(name)) {
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
      size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~DescriptorStream() override {
    if (is_owned_) ::close(descriptor_);
  }
  DescriptorStream(const DescriptorStream&) = delete;
  DescriptorStream& operator=(const DescriptorStream&) = delete;

  // Calls read(2) until `bytes` is full, because one call may return fewer bytes, for instance from a pipe.
  std::size_t read(std::span<std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      check_cancelled();
      const ::ssize_t count = ::read(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count == 0) break;
      if (count < 0 && errno != EINTR) throw FileError(name_ + ": " + std::strerror(errno));
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    return done;
  }
  std::optional<std::uint64_t> size() const override { return size_; }
  void seek(std::uint64_t position) override {
    if (::lseek(descriptor_, static_cast<::off_t>(position), SEEK_SET) < 0) {
      throw FileError(name_ + ": " + std::strerror(errno));
    }
  }

 private:
  int descriptor_;
  bool is_owned_;
  std::string name_;
  std::optional<std::uint64_t> size_;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t read(std::span<std::byte> bytes) override {
    const std::size_t count = std::min(bytes.size(), bytes_.size() - position_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), count, bytes.begin());
    position_ += count;
    return count;
  }
  std::optional<std::uint64_t> size() const override { return bytes_.size(); }
  void seek(std::uint64_t position) override { position_ = std::min<std::size_t>(position, bytes_.size()); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> open_bytes(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw FileError(path + ": " + std::strerror(errno));
  auto stream = std::make_unique<DescriptorStream>(descriptor, true, path);
  struct stat status = {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    throw FileError(path + ": a folder, expected a recording");
  }
  return stream;
}

std::unique_ptr<ByteStream> bytes_of(int descriptor, const std::string& name) {
  return std::make_unique<DescriptorStream>(descriptor, false, name);
}

std::unique_ptr<ByteStream> bytes_of(std::span<const std::byte> bytes) {
  return std::make_unique<MemoryStream>(bytes);
}

AudioInput::AudioInput(std::unique_ptr<ByteStream> stream, std::string name)
    : stream_(std::move(stream)), name_(std::move(name)) {}

std::span<const std::byte> AudioInput::peek(std::size_t count) {
  if (peeked_.size() < count) {
    const std::size_t had = peeked_.size();
    peeked_.resize(count);
    peeked_.resize(had + stream_->read(std::span(peeked_).subspan(had)));
  }
  return std::span(peeked_).first(std::min(count, peeked_.size()));
}

std::size_t AudioInput::read(std::span<std::byte> bytes) {
  const std::size_t known = std::min(bytes.size(), peeked_.size());
  std::copy_n(peeked_.begin(), known, bytes.begin());
  peeked_.erase(peeked_.begin(), peeked_.begin() + static_cast<std::ptrdiff_t>(known));
  const std::size_t count = known + stream_->read(bytes.subspan(known));
  position_ += count;
  return count;
}

std::uint64_t AudioInput::skip(std::uint64_t count) {
  std::array<std::byte, 4096> skipped;
  std::uint64_t done = 0;
  while (done < count) {
    const std::size_t part = read(std::span(skipped).first(std::min<std::uint64_t>(skipped.size(), count - done)));
    done += part;
    if (part == 0) break;
  }
  return done;
}

}  // namespace encdec
