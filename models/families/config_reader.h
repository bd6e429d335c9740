#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/network/config.h"

namespace encdec {

// Reads sizes and choices out of a config.json, within limits that no real model comes near. Where a key is missing,
// the default holds: that of the class that transformers has for the family. All functions throw ConfigError, naming
// the file and the key, for values that cannot be.
class ConfigReader {
 public:
  explicit ConfigReader(const JsonObject& config) : config_(config) {}

  const JsonObject& json() const { return config_; }

  Dim vocabulary(std::string_view key, Dim missing) const {
    return config_.integer(key, {1, 10'000'000}).value_or(missing);
  }
  // Model and hidden dimensions, numbers of heads and positions: at least 1.
  Dim width(std::string_view key, Dim missing) const { return config_.integer(key, {1, 1 << 20}).value_or(missing); }
  int layers(std::string_view key, int missing) const {
    return static_cast<int>(config_.integer(key, {1, 1024}).value_or(missing));
  }
  bool flag(std::string_view key, bool missing) const { return config_.boolean(key).value_or(missing); }
  float epsilon(std::string_view key, double missing) const {
    return static_cast<float>(config_.number(key, {0.0, 1.0}).value_or(missing));
  }
  Activation activation(std::string_view key, std::string_view missing) const {
    const std::string name = config_.string(key).value_or(std::string(missing));
    if (const auto known = activation_named(name)) return *known;
    refuse<ConfigError>(config_.file(), "{} '{}' is not supported, expected one of {}", key, printable(name),
                        activation_names());
  }
  std::optional<std::int32_t> token(std::string_view key, Dim vocabulary) const {
    const auto id = config_.integer(key, {0, vocabulary - 1});
    return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
  }

  // Throws unless heads of the stack divide the model dimension.
  void check_heads(const StackConfig& stack, Dim model_dim, std::string_view key) const {
    if (model_dim % stack.heads == 0) return;
    refuse<ConfigError>(config_.file(), "{} {} does not divide the model dimension {}", key, stack.heads, model_dim);
  }

 private:
  const JsonObject& config_;
};

}  // namespace encdec
