#include "server/server_slice.h"

#include "slice.h"

namespace encdec::serve {

std::vector<std::shared_ptr<ServerSlice>> server_slices() {
  return {
#define ENCDEC_SLICE(name) name##_server_slice(),
#include "slices.inc"
#undef ENCDEC_SLICE
  };
}

}  // namespace encdec::serve
