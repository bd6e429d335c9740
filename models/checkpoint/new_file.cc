#include "encdec/models/checkpoint/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"

namespace encdec {

namespace {

// Linux's limit for a file name (NAME_MAX).
constexpr std::size_t kMaxNameBytes = 255;
constexpr int kAttempts = 100;                                 // number of random names to try
constexpr auto kPollInterval = std::chrono::milliseconds(20);  // pause between two attempts to lock a folder

// Returns NAME.XXXXXX.partial, for a file NAME. Truncates a NAME that is too long, but not within a UTF-8 character.
std::filesystem::path partial_of(const std::filesystem::path& path, std::uint32_t number) {
  std::string name = path.filename().string();
  const std::string ending = fmt::format(".{:06x}.partial", number & 0xFFFFFF);
  std::size_t kept = std::min(name.size(), kMaxNameBytes - ending.size());
  while (kept < name.size() && kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0) == 0x80) --kept;
  name.resize(kept);
  return path.parent_path() / (name + ending);
}

// Returns the target of a symlink, even if the target does not exist yet, so that a rename replaces the target and not
// the symlink. Returns any other path as it is.
std::filesystem::path without_links(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  if (!error) return file;
  if (error != std::errc::no_such_file_or_directory) return path;
  const std::filesystem::path target = std::filesystem::read_symlink(path, error);
  return error ? path : without_links(path.parent_path() / target);
}

// Flushes the names in a folder to disk. Returns false on failure, but true if the file system cannot flush folders.
bool sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno == EACCES;  // a folder without read permission may still be writable
  const bool is_synced = ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
  ::close(descriptor);
  return is_synced;
}

}  // namespace

NewFile::NewFile(const std::filesystem::path& path, Kind kind, std::string shown)
    : path_(kind == Kind::output ? without_links(path) : path), shown_(std::move(shown)), kind_(kind) {
  // Refuse anything that commit() should not replace.
  std::error_code unknown;
  const auto status = std::filesystem::status(path_, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw FileError(fmt::format("{}: not a regular file, expected one", shown_));
  }
  // Create the partial file under a random name.
  std::random_device random;
  for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
    partial_ = partial_of(path_, random());
    // O_EXCL makes open() fail if the name exists, so that no existing file, symlink or pipe is opened.
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) fail("open for writing", errno);
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
  // Sync an output before the rename, so that a crash of the operating system leaves no empty file under the output's
  // name. Do not sync a cache: syncing may take as long as a hundred loads from the cache, and hashes detect an
  // incomplete file.
  if (kind_ == Kind::output && ::fsync(descriptor_) != 0 && errno != EINVAL) fail("write", errno);
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail("write", errno);
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    fail("rename the finished file to it", errno);
  }
  is_committed_ = true;
  if (kind_ == Kind::output && !sync_folder(path_.parent_path())) fail("write its name", errno);
}

FolderLock::FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) return;
  const auto end = std::chrono::steady_clock::now() + patience;
  try {
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
      gave_up_ = std::chrono::steady_clock::now() >= end;
      if (gave_up_) return;
      check_cancelled();
      std::this_thread::sleep_for(kPollInterval);
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace encdec
