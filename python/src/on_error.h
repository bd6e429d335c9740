#pragma once

#include <cstdint>

namespace encdec::python {

// The treatment of a source that the model does not accept.
enum class OnError : std::uint8_t {
  raise,  // the call ends with an error
  null,   // the result of the source is None
};

}  // namespace encdec::python
