#include "command/output_file.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/tokenizer/base/utf8.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "command/interrupt.h"

namespace encdec::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

}  // namespace

std::string name_ending(const std::string& path) {
  const std::string ending = lower_case(std::filesystem::path(path).extension().string());
  return ending.empty() ? ending : ending.substr(1);
}

bool is_written_directly(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return true;
  return path.starts_with("/dev/std") || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

std::optional<std::pair<dev_t, ino_t>> file_id(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

OutputFile::OutputFile(const std::string& path, Unfinished unfinished)
    : name_(path.empty() ? "standard output" : path) {
  if (!path.empty() && !is_written_directly(path)) {
    file_.emplace(path, NewFile::Kind::output, path);
    if (unfinished == Unfinished::keep) file_->keep();
    return;
  }
  descriptor_ = path.empty() ? ::dup(STDOUT_FILENO) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ >= 0) return;
  if (errno == EINTR) throw_if_interrupted();  // open() of a pipe waits for a reader, and a signal ends the wait
  fail("open for writing");
}

OutputFile::~OutputFile() {
  try {
    flush();
  } catch (const std::exception&) {  // ignored, because the error that prevented commit() is reported instead
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::fail(std::string_view what) const {
  const int error = errno;
  if (error == EPIPE) throw OutputClosed();
  throw FileError(fmt::format("{}: cannot {}: {}", name_, what, std::strerror(error)));
}

void OutputFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  const std::string text = std::exchange(buffer_, {});
  file_ ? file_->write(text) : write_directly(text);
}

void OutputFile::write_directly(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) {
      throw_if_interrupted();  // a retry may block if the reader of a pipe has stopped reading
      continue;
    }
    if (count < 0) fail("write");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

NewFile& OutputFile::regular() {
  if (!file_) throw FileError(fmt::format("{}: not a regular file, expected one", name_));
  return *file_;
}

void OutputFile::commit() {
  flush();
  if (file_) return file_->commit();
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail("write");
}

std::string OutputFile::partial_path() const {
  return file_ && !file_->is_empty() ? file_->partial().string() : std::string();
}

}  // namespace encdec::cli
