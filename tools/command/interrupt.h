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

// Installs handlers for SIGINT and SIGTERM, unless these signals are ignored. After the first signal, the functions
// below throw Interrupted; a second signal ends the process. REQUIRES: called once, before other threads start.
void watch_interrupts();

// Throws Interrupted after SIGINT or SIGTERM.
void throw_if_interrupted();

// Waits until `descriptor` can be read without blocking. Throws Interrupted if SIGINT or SIGTERM arrives first.
void wait_for_input(int descriptor);

}  // namespace encdec::cli
