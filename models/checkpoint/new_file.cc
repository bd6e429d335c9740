#include "encdec/models/checkpoint/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "encdec/engine/base/error.h"

namespace encdec {

NewFile::NewFile(const std::filesystem::path& path, Kind kind, std::string shown)
    : path_(path), partial_(path), shown_(std::move(shown)), kind_(kind) {
  static std::atomic<unsigned> count = 0;
  partial_ += kind == Kind::output ? ".partial" : fmt::format(".{}-{}.partial", ::getpid(), count++);
  // Nobody else's: a file or link that has a cache's name is not opened.
  const int existing = kind == Kind::output ? O_TRUNC : O_EXCL;
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | existing, 0666);
  if (descriptor_ < 0) fail(kind == Kind::output ? "open for writing" : "write", errno);
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!is_committed_ && (!is_kept_ || is_empty())) ::unlink(partial_.c_str());
}

void NewFile::fail(std::string_view what, int error) const {
  throw FileError(fmt::format("{}: cannot {}: {}", shown_, what, std::strerror(error)));
}

void NewFile::resize(std::uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("make it long enough", errno);
}

void NewFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ::ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("write", count < 0 ? errno : ENOSPC);
    has_content_ = true;
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void NewFile::write(std::string_view text) {
  write_at(written_, std::as_bytes(std::span(text)));
  written_ += text.size();
}

void NewFile::commit() {
  // A crash of the system must not leave an empty file under an output's name. Waiting for the disk may take as long as
  // a hundred loads from a cache, whose hashes tell what is not whole.
  if (kind_ == Kind::output && ::fsync(descriptor_) != 0 && errno != EINVAL) fail("write", errno);
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail("write", errno);
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    fail(kind_ == Kind::output ? "rename the finished file to it" : "rename a new file to it", errno);
  }
  is_committed_ = true;
}

}  // namespace encdec
