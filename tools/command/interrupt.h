#pragma once

#include <stdexcept>
#include <string_view>

namespace encdec::cli {

// Thrown to stop work after SIGINT or SIGTERM.
class Interrupted : public std::runtime_error {
 public:
  // `detail` is appended to the message.
  explicit Interrupted(int signal, std::string_view detail = {});
  int signal() const { return signal_; }

 private:
  int signal_;
};

// Installs handlers for SIGINT and SIGTERM. After the first signal the functions below throw Interrupted. A second
// signal of the same kind ends the process at once. A signal that is ignored stays ignored.
// REQUIRES: called once, before other threads start.
void watch_interrupts();

// Throws Interrupted if SIGINT or SIGTERM has been received.
void throw_if_interrupted();

// Waits until `descriptor` can be read without blocking. Throws Interrupted if SIGINT or SIGTERM is received first.
void wait_for_input(int descriptor);

}  // namespace encdec::cli
