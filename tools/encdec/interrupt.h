#pragma once

#include <stdexcept>
#include <string_view>

namespace encdec::cli {

// Thrown where work stops because SIGINT or SIGTERM asked for it.
class Interrupted : public std::runtime_error {
 public:
  // `detail` is appended to the message.
  explicit Interrupted(int signal, std::string_view detail = {});
  int signal() const { return signal_; }

 private:
  int signal_;
};

// From now on the first SIGINT or SIGTERM is a request, answered by the functions below; the second one ends the
// process at once. Call it once, before other threads start.
void watch_interrupts();

// Throws Interrupted if a signal has asked to stop.
void throw_if_interrupted();

// Waits until `descriptor` can be read without blocking. Throws Interrupted if a signal asks to stop first.
void wait_for_input(int descriptor);

}  // namespace encdec::cli
