#pragma once

#include <chrono>
#include <filesystem>

namespace encdec {

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
