#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <variant>
#include <vector>

#include "encdec/models/model/request_queue.h"

namespace encdec::python {

// What has become of a source of a request.
struct Event {
  std::uint64_t request = 0;  // the number under which it was submitted
  std::size_t source = 0;
  std::variant<TokenIds, GenerateResult, EmbedResult, std::exception_ptr> news;  // tokens: more of the result to come
};

// Where workers put events, and Python finds them: they never want the interpreter's lock. An event loop, or a poll,
// watches a descriptor that is readable while there are some.
class Inbox {
 public:
  Inbox();

  int descriptor() const;
  // All that are there.
  std::vector<Event> take();
  // Waits for some, with an eye on signals.
  void wait() const;

  // For a request of this number, which may come to its end after the inbox is gone.
  GenerateHandlers generate_handlers(std::uint64_t request, bool with_tokens) const;
  EmbedHandlers embed_handlers(std::uint64_t request) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace encdec::python
