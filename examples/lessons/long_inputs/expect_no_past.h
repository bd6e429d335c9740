#pragma once

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "encdec/engine/base/error.h"
#include "encdec/engine/run_state.h"

namespace lessons {
using namespace encdec;

// Throws InputError if a sequence has a past; for layers that cache nothing. `layer` names the layer in the message.
inline void expect_no_past(std::span<const Sequence> sequences, std::string_view layer) {
  for (const Sequence& sequence : sequences) {
    if (sequence.past != 0) {
      throw InputError(fmt::format("{}: a sequence has a past of {} positions, expected 0: nothing is cached", layer,
                                   sequence.past));
    }
  }
}

}  // namespace lessons
