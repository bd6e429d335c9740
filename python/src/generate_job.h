#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>

#include "encdec/models/model.h"
#include "on_error.h"

namespace encdec::python {

// Sources that come one by one from Python, and their results: a thread generates, which never wants the interpreter's
// lock. So many sources are taken in ahead of results.
class GenerateJob {
 public:
  GenerateJob(const Model& model, GenerateOptions options, OnError on_error, std::size_t most_unanswered);
  ~GenerateJob();
  GenerateJob(const GenerateJob&) = delete;
  GenerateJob& operator=(const GenerateJob&) = delete;

  enum class Event : std::uint8_t {
    result,  // is there
    room,    // for another source
    end,     // of the results, after finish()
  };
  // Waits for the next event, with an eye on signals. Throws what has ended the work.
  std::pair<Event, std::optional<GenerateResult>> wait();
  void add(GenerateInput input);
  // There are no more sources.
  void finish();
  // Stops the work, and waits until it has. A job of a process that this one was forked from is left as it is.
  void close();

 private:
  class Work;
  std::unique_ptr<Work> work_;  // null when it is closed
};

}  // namespace encdec::python
