#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/network/config.h"

namespace encdec {

// Reads settings from a config.json, with limits far beyond any real model. `missing` is the
// default of the family's class in transformers. All functions throw ConfigError, naming the file
// and the key, for a value of a wrong type or out of range.
class ConfigReader {
 public:
  explicit ConfigReader(const JsonObject& config) : config_(config) {}

  const JsonObject& json() const { return config_; }

  Dim vocabulary(std::string_view key, Dim missing) const {
    return config_.integer(key, {1, 10'000'000}).value_or(missing);
  }
  // Returns a dimension, a number of heads or a number of positions, which must be at least 1.
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
  // Returns pad_token_id; nullopt if the key is absent or the id is not in the vocabulary (-1 in some files).
  std::optional<std::int32_t> pad_token(Dim vocabulary) const {
    const std::int64_t id = config_.integer("pad_token_id").value_or(-1);
    return id >= 0 && id < vocabulary ? std::optional(static_cast<std::int32_t>(id)) : std::nullopt;
  }

  // Returns a number of heads, which must divide the model dimension.
  int heads(std::string_view key, Dim missing, Dim model_dim) const {
    const Dim heads = width(key, missing);
    if (model_dim % heads == 0) return static_cast<int>(heads);
    refuse<ConfigError>(config_.file(), "{} {} does not divide the model dimension {}", key, heads, model_dim);
  }
  // Returns num_key_value_heads, which must divide `heads`.
  int key_value_heads(Dim missing, int heads) const {
    const Dim shared = width("num_key_value_heads", missing);
    if (heads % shared == 0) return static_cast<int>(shared);
    refuse<ConfigError>(config_.file(), "num_key_value_heads {} does not divide num_attention_heads {}", shared, heads);
  }

 private:
  const JsonObject& config_;
};

}  // namespace encdec
