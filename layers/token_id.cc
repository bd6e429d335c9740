#include "encdec/layers/token_id.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"

namespace encdec {

void expect_token_ids(Shapes inputs) {
  if (inputs.size() != 1 || inputs[0].rank() != 1) throw ShapeError("expected one input of token ids, [rows]");
}

void expect_token_id(std::int32_t id, Dim vocabulary) {
  if (id < 0 || id >= vocabulary) {
    throw InputError(fmt::format("token id {}, expected 0 to {} (vocabulary size {})", id, vocabulary - 1, vocabulary));
  }
}

void expect_integers(const Tensor& tensor, std::string_view what) {
  if (tensor.type() == DataType::int32) return;
  throw InputError(fmt::format("{}: stored as {}, expected int32", what, to_string(tensor.type())));
}

}  // namespace encdec
