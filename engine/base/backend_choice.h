#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "encdec/engine/base/named_values.h"

namespace encdec {

// The code that multiplies matrices.
enum class BackendChoice : std::uint8_t {
  automatic,  // the library's own kernels if this build has them, otherwise oneDNN
  onednn,
  encdec,
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
