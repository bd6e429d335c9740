#pragma once

#include <exception>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/prompter.h"

namespace encdec {

// Logits that are not numbers: a weight is not one, or values have become too large.
class NotANumber : public BackendError {
 public:
  // What was read.
  explicit NotANumber(Prompt prompt);

  const Prompt& prompt() const { return prompt_; }

 private:
  Prompt prompt_;
};

// Throws BackendError that says where they come from: the weight, or the first node whose values are not finite.
[[noreturn]] void explain(const NotANumber& failure, const ModelParts& parts);
// A failure as it is told to users: that one if it is NotANumber, else itself.
std::exception_ptr explained(const std::exception_ptr& failure, const ModelParts& parts);

}  // namespace encdec
