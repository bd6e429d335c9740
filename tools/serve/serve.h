#pragma once

#include <chrono>

#include "serve/settings.h"

namespace encdec::serve {

// Serves until SIGINT or SIGTERM, and then until all that was accepted is answered, but no longer than the limits say;
// a second signal ends it at once. Throws what keeps it from listening or loading.
void serve(const ServeSettings& settings);

// Ends the process with `status` when `time` has passed and it has not ended before, whatever its threads do.
void exit_within(std::chrono::seconds time, int status);

}  // namespace encdec::serve
