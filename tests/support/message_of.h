#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "encdec/engine/base/error.h"

namespace encdec {

// Returns the message of the E that `action` throws, or "no exception".
template <class E = Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no exception";
}

// The same for an action that reads a file. Expects that the message is one line that begins with `where`.
template <class E = FileError, class Action>
std::string refusal_of(std::string_view where, const Action& action) {
  const std::string message = message_of<E>(action);
  EXPECT_TRUE(message == "no exception" || message.starts_with(where)) << message;
  EXPECT_EQ(message.find('\n'), message.npos) << message;
  return message;
}

}  // namespace encdec
