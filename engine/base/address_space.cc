#include "encdec/engine/base/address_space.h"

namespace encdec {

std::mutex& address_space() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace encdec
