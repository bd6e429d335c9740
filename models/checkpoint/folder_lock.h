#pragma once

#include <chrono>
#include <filesystem>

namespace encdec {

// While it lives, no other process, and no other thread, has the lock of a folder. Ends with its process, however that
// ends.
class FolderLock {
 public:
  // Waits for it so long, and goes on without it then, or where the file system has no locks. May be cancelled.
  FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Whether somebody else had it all the time.
  bool gave_up() const { return gave_up_; }

 private:
  int descriptor_ = -1;
  bool gave_up_ = false;
};

}  // namespace encdec
