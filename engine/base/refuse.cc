#include "encdec/engine/base/refuse.h"

#include <nlohmann/json.hpp>

namespace encdec {

std::string printable(std::string_view text, std::size_t limit) {
  const bool whole = text.size() <= limit;
  const nlohmann::json value(std::string(text.substr(0, limit)));
  const std::string quoted = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2) + (whole ? "" : "...");
}

void check_range(std::string_view name, int value, int min, int max) {
  if (value >= min && value <= max) return;
  throw ConfigError(fmt::format("{} is {}, expected {} to {}", name, value, min, max));
}

}  // namespace encdec
