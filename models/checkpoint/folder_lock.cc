#include "encdec/models/checkpoint/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(20);

}  // namespace

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
