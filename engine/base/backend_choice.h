#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "encdec/engine/base/named_values.h"

namespace encdec {

// Choice between oneDNN and this library's own kernels for matrix products.
enum class BackendChoice : std::uint8_t {
  automatic,  // the faster of the others: where this build has them, the library's own kernels
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
