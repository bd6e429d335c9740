#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace encdec {

// A regular file that appears under its name only when it is complete. Until then it is written beside its final place,
// under the unique name NAME.XXXXXX.partial. If several are written for one name at once, the last commit() wins. The
// destructor deletes the partial file, unless commit() or keep() was called. All functions throw FileError with the
// system's reason.
// Order of calls: (resize | write_at | write)* (commit | keep)?
class NewFile {
 public:
  enum class Kind : std::uint8_t {
    output,  // data reaches the disk before the name; both are on the disk when commit() returns; a link is followed
    cache,   // data may reach the disk later, so readers must check it; a link is replaced
  };

  // `shown` is the name of the file in messages. Throws FileError too if the path is that of a folder, a device or a
  // pipe, because commit() would replace it.
  NewFile(const std::filesystem::path& path, Kind kind, std::string shown);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Sets the file's size. Bytes that are never written are zero.
  void resize(std::uint64_t bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // Appends to what previous calls of write() have written.
  void write(std::string_view text);
  bool is_empty() const { return !has_content_; }

  // Gives the file its name. Nothing may be written afterwards.
  void commit();
  // Makes the destructor leave the partial file in place, unless the file is empty or has been committed.
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

// A lock on a folder against other processes and other threads, held until this object is destroyed. If the process
// dies, the system releases the lock.
class FolderLock {
 public:
  // Waits up to `patience` for the lock. After that, and on file systems without locks, continues without holding it.
  // The wait can be cancelled (see CancellationScope).
  FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Returns whether another holder kept the lock for all of `patience`.
  bool gave_up() const { return gave_up_; }

 private:
  int descriptor_ = -1;
  bool gave_up_ = false;
};

}  // namespace encdec
