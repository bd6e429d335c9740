#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "encdec/encoders/classifier.h"
#include "encdec/models/model/request_queue.h"
#include "encdec/speech/live/live_session.h"
#include "encdec/speech/speech_model.h"

namespace encdec::python {

// News about one source of a request. TokenIds, segments and live events are followed by more news about the source;
// the other kinds are the last.
using News = std::variant<TokenIds, std::vector<TranscriptSegment>, GenerateResult, VectorResult, std::vector<Entity>,
                          Transcript, LiveEvent, std::exception_ptr>;
struct Event {
  std::uint64_t request = 0;  // number passed to submit()
  std::size_t source = 0;     // index of the source in the request
  News news;
};

// A queue of events from workers to Python. Workers add events without the interpreter's lock. The descriptor is
// readable while there are events, so that an event loop or poll() can watch it.
class Inbox {
 public:
  Inbox();

  int descriptor() const;
  // Removes and returns all events. Throws Error in a forked process, which has no workers.
  std::vector<Event> take();
  // Ends the inbox: wait() returns at once, and the descriptor stays readable, for every thread and task that waits.
  void end();
  // Waits until there are events or the inbox has ended. Meanwhile runs Python's signal handlers, and throws the
  // exception of a handler.
  void wait() const;

  // Returns a function that adds news about a source of the request with the given number. It may be called after the
  // inbox is destroyed.
  std::function<void(std::size_t source, News news)> put(std::uint64_t request) const;
  // Return callbacks that add the news of a request.
  template <class Result>
  Handlers<Result> handlers(std::uint64_t request) const {
    return {.on_result = put(request), .on_failure = put(request)};
  }
  GenerateHandlers generate_handlers(std::uint64_t request, bool with_tokens) const;
  TranscribeHandlers transcribe_handlers(std::uint64_t request) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace encdec::python
