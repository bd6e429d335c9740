#pragma once

#include <cstdint>

namespace encdec::python {

// What becomes of a source that the model cannot take.
enum class OnError : std::uint8_t {
  raise,  // its error ends the call
  null,   // its result has no hypotheses: None
};

}  // namespace encdec::python
