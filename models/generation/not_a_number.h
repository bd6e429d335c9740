#pragma once

#include <exception>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/prompter.h"

namespace encdec {

// The error for NaN logits: a weight is not finite, or an intermediate value overflowed.
class NotANumber : public BackendError {
 public:
  // `prompt` holds the tokens that the model had read.
  explicit NotANumber(Prompt prompt);

  const Prompt& prompt() const { return prompt_; }

 private:
  Prompt prompt_;
};

// Throws BackendError that names the cause: a weight that is not finite, or the first node whose output is not finite.
[[noreturn]] void explain(const NotANumber& failure, const ModelParts& parts);
// Returns the error to report to users: what explain() throws if `failure` is NotANumber, otherwise `failure`.
std::exception_ptr explained(const std::exception_ptr& failure, const ModelParts& parts);

}  // namespace encdec
