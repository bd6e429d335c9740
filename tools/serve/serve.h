#pragma once

#include <chrono>

#include "serve/settings.h"

namespace encdec::serve {

// Serves until SIGINT or SIGTERM. After that signal it finishes the accepted requests, but for no longer than
// ServiceLimits::drain_time. A second signal ends the process at once. Throws if it cannot listen or load a model.
void serve(const ServeSettings& settings);

// Ends the process with `status` once `time` has passed, even if threads are blocked.
void exit_within(std::chrono::seconds time, int status);

}  // namespace encdec::serve
