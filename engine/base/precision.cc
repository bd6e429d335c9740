#include "encdec/engine/base/precision.h"

namespace encdec {

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::float32: return "float32";
    case Precision::bfloat16: return "bfloat16";
    case Precision::int8: return "int8";
    case Precision::automatic: return "auto";
  }
  return "unknown";
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8, Precision::automatic}) {
    if (to_string(precision) == name) return precision;
  }
  return std::nullopt;
}

std::size_t weight_bytes(Precision precision) {
  switch (precision) {
    case Precision::bfloat16: return 2;
    case Precision::int8: return 1;
    default: return 4;
  }
}

}  // namespace encdec
