#include "encdec/engine/base/precision.h"

namespace encdec {

std::size_t weight_bytes(Precision precision) {
  switch (precision) {
    case Precision::bfloat16: return 2;
    case Precision::int8: return 1;
    default: return 4;
  }
}

}  // namespace encdec
