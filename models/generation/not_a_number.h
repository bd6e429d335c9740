#pragma once

#include <exception>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/prompter.h"

namespace encdec {

// The error for NaN logits: a weight is not finite, or an intermediate value overflowed.
class NotANumber : public BackendError {
 public:
  // `prompt`: the tokens that the model had read.
  explicit NotANumber(Prompt prompt);

  const Prompt& prompt() const { return prompt_; }

 private:
  Prompt prompt_;
};

// Throws a BackendError that names the cause: the first weight or node output that is not finite.
[[noreturn]] void explain(const NotANumber& failure, const ModelParts& parts);
// Returns the error to show to users: the exception of explain() for a NotANumber, and `failure` for any other error.
std::exception_ptr explained(const std::exception_ptr& failure, const ModelParts& parts);

}  // namespace encdec
