#include "encdec/engine/base/address_space.h"

#include <pthread.h>

namespace encdec {

std::mutex& address_space() {
  static std::mutex mutex;
  // fork() must not copy the mutex while another thread holds it: that thread does not exist in the child.
  [[maybe_unused]] static const int registered =
      ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
  return mutex;
}

}  // namespace encdec
