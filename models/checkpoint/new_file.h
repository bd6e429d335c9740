#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace encdec {

// A regular file that appears under its name only when it is complete. Until then it is NAME.XXXXXX.partial in the same
// folder. If several files are written for one name, the file with the last commit() remains. The destructor deletes
// the partial file unless commit() or keep() was called. All functions throw FileError with the operating
// system's reason.
// Order of calls: (resize | write_at | write)* (commit | keep)?
class NewFile {
 public:
  enum class Kind : std::uint8_t {
    // When commit() returns, the file is on disk. The data are written before the name. A symlink is followed.
    output,
    // Data may reach the disk later, so readers must check it. A symlink is replaced.
    cache,
  };

  // `shown` is the file's name in error messages. Throws FileError also if `path` is a folder, a
  // device or a pipe, because commit() would replace it.
  NewFile(const std::filesystem::path& path, Kind kind, std::string shown);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Sets the file's size. Bytes that are never written are zero.
  void resize(std::uint64_t bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // Appends to the text of earlier write() calls.
  void write(std::string_view text);
  bool is_empty() const { return !has_content_; }

  // Renames the partial file to its name. Nothing may be written afterwards.
  void commit();
  // Makes the destructor keep the partial file, unless the file is empty or committed.
  void keep() { is_kept_ = true; }
  const std::filesystem::path& partial() const { return partial_; }

 private:
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::string shown_;
  Kind kind_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;  // bytes written by write()
  bool has_content_ = false;
  bool is_kept_ = false;
  bool is_committed_ = false;
};

// A lock on a folder against other processes and threads, held until destruction. If the process
// dies, the operating system releases the lock.
class FolderLock {
 public:
  // Waits up to `patience` for the lock. If that fails, or the file system has no locks, continues without the lock.
  // The wait can be cancelled (see CancellationScope).
  FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Returns true if another holder kept the lock for all of `patience`.
  bool gave_up() const { return gave_up_; }

 private:
  int descriptor_ = -1;
  bool gave_up_ = false;
};

}  // namespace encdec
