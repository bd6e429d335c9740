#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "encdec/models/model/request_queue.h"

namespace encdec::python {

// News about one source of a request.
struct Event {
  std::uint64_t request = 0;  // number passed to submit()
  std::size_t source = 0;     // index of the source in the request
  const char* kind = "";      // "result" or "failure" for a source's last event; earlier events: kinds such as "tokens"
  std::function<nanobind::object()> value = {};  // makes the Python object. REQUIRES: the interpreter's lock is held
};

// A queue of events from workers to Python. Workers add events without the interpreter's lock. An event loop or poll()
// can watch the descriptor, which is readable while there are events.
class Inbox {
 public:
  Inbox();

  int descriptor() const;
  // Removes and returns all events. Throws Error in a forked process, where no workers run.
  std::vector<Event> take();
  // Ends the inbox for all waiting threads and tasks: wait() returns at once, and the descriptor stays readable.
  void end();
  // Waits until there are events or the inbox has ended, and calls check_signals() meanwhile.
  void wait() const;

  // Returns a function that adds news about a source of request number `request`. `to_object` converts a News to a
  // Python object. The function may be called after the inbox is destroyed.
  template <class News, class ToObject>
  auto put(std::uint64_t request, const char* kind, const ToObject& to_object) const {
    return [add = adder(), request, kind, to_object](std::size_t source, News news) {
      add({request, source, kind,
           [to_object, news = std::move(news)]() mutable { return to_object(std::move(news)); }});
    };
  }
  // Returns callbacks that add a request's results and failures.
  template <class Result, class ToObject>
  Handlers<Result> handlers(std::uint64_t request, const ToObject& to_object) const {
    return {.on_result = put<Result>(request, "result", to_object), .on_failure = put_failure(request)};
  }
  std::function<void(std::size_t source, std::exception_ptr failure)> put_failure(std::uint64_t request) const;

 private:
  std::function<void(Event event)> adder() const;

  class State;
  std::shared_ptr<State> state_;
};

}  // namespace encdec::python
