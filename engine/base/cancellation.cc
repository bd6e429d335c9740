#include "encdec/engine/base/cancellation.h"

#include <utility>

namespace encdec {
namespace {

// The check function of this thread's innermost CancellationScope.
thread_local const std::function<void()>* current_check = nullptr;

}  // namespace

CancellationScope::CancellationScope(const std::function<void()>* check)
    : outer_(std::exchange(current_check, check)) {}

CancellationScope::~CancellationScope() {
  current_check = outer_;
}

const std::function<void()>* CancellationScope::check_of_this_thread() {
  return current_check;
}

void check_cancelled() {
  if (current_check != nullptr) (*current_check)();
}

}  // namespace encdec
