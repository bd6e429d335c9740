#include "output_file.h"

#include <encdec/engine/error.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "interrupt.h"

namespace encdec::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

// What cannot be renamed over: devices, pipes, and names of files that are open already, such as /dev/stdout.
bool is_written_directly(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return true;
  return path.starts_with("/dev/std") || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

// Where links lead: they keep pointing to the file that they point to now.
std::string without_links(const std::string& path) {
  std::error_code error;
  const auto file = std::filesystem::canonical(path, error);
  return error ? path : file.string();
}

}  // namespace

OutputFile::OutputFile(const std::string& path, Unfinished unfinished)
    : name_(path.empty() ? "standard output" : path), unfinished_(unfinished) {
  if (path.empty()) {
    descriptor_ = ::dup(STDOUT_FILENO);
  } else {
    if (is_written_directly(path)) {
      descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
      path_ = without_links(path);
      partial_ = path_ + ".partial";
      descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
  }
  if (descriptor_ < 0) fail("open for writing");
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  try {
    flush();
  } catch (const std::exception&) {  // the reason why there was no commit has been told already
  }
  ::close(descriptor_);
  if (!partial_.empty() && (!has_content_ || unfinished_ == Unfinished::remove)) ::unlink(partial_.c_str());
}

void OutputFile::fail(std::string_view what) const {
  const int error = errno;
  if (error == EPIPE && partial_.empty()) throw OutputClosed();
  throw FileError(fmt::format("{}: cannot {}: {}", name_, what, std::strerror(error)));
}

void OutputFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  const std::string text = std::move(buffer_);
  buffer_.clear();
  write_all(text);
}

void OutputFile::write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) {
      throw_if_interrupted();  // nobody may be reading our standard output any more
      continue;
    }
    if (count < 0) fail("write");
    has_content_ = true;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void OutputFile::resize(std::uint64_t bytes) {
  if (partial_.empty()) throw FileError(fmt::format("{}: not a regular file, expected one", name_));
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("make it long enough");
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write");
    has_content_ = true;
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::commit() {
  flush();
  // The data must be on the disk before the name is: a crash in between must not leave an empty file under it.
  if (!partial_.empty() && ::fsync(descriptor_) != 0 && errno != EINVAL) fail("write");
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0 && errno != EINTR) fail("write");
  if (!partial_.empty() && std::rename(partial_.c_str(), path_.c_str()) != 0) fail("rename the finished file to it");
}

std::string OutputFile::partial_path() const {
  return has_content_ ? partial_ : std::string();
}

}  // namespace encdec::cli
