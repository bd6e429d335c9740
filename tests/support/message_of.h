#pragma once

#include <string>

namespace encdec {

// What the error of kind E that `action` throws says, or "no exception".
template <class E, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no exception";
}

}  // namespace encdec
