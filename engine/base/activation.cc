#include "encdec/engine/base/activation.h"

namespace encdec {

std::string_view to_string(Activation activation) {
  switch (activation) {
    case Activation::identity: return "identity";
    case Activation::relu: return "relu";
    case Activation::gelu: return "gelu";
    case Activation::gelu_tanh: return "gelu_tanh";
    case Activation::gelu_sigmoid: return "gelu_sigmoid";
    case Activation::silu: return "silu";
    case Activation::tanh: return "tanh";
    case Activation::sigmoid: return "sigmoid";
  }
  return "unknown";
}

}  // namespace encdec
