#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "encdec/engine/base/named_values.h"

namespace encdec {

// What multiplies matrices.
enum class BackendChoice : std::uint8_t {
  automatic,  // for each precision and number of rows, whichever of the others is faster on this kind of CPU
  onednn,     // oneDNN, in every precision
  encdec,     // this library's own kernels
};

inline constexpr std::array kBackendNames = {
    Named{BackendChoice::automatic, "auto"},
    Named{BackendChoice::onednn, "onednn"},
    Named{BackendChoice::encdec, "encdec"},
};

constexpr std::string_view to_string(BackendChoice backend) {
  return name_of(kBackendNames, backend);
}

// Returns the choice of this name; nullopt if there is none.
constexpr std::optional<BackendChoice> backend_named(std::string_view name) {
  return value_named<BackendChoice>(kBackendNames, name);
}

}  // namespace encdec
