#include "encdec/engine/base/address_space.h"

#include <pthread.h>

namespace encdec {

std::mutex& address_space() {
  static std::mutex mutex;
  // A process that is forked must not find it locked by a thread that it does not have.
  [[maybe_unused]] static const int registered =
      ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
  return mutex;
}

}  // namespace encdec
