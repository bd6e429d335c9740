#include "encdec/models/families/config_reader.h"

#include "encdec/models/checkpoint/refuse.h"

namespace encdec {

Activation ConfigReader::activation(std::string_view key, std::string_view missing) const {
  const std::string name = config_.string(key).value_or(std::string(missing));
  const auto known = activation_named(name);
  if (!known) {
    refuse<ConfigError>(config_.file(), "{} '{}' is not supported, expected one of {}", key, printable(name),
                        activation_names());
  }
  return *known;
}

std::optional<std::int32_t> ConfigReader::token(std::string_view key, Dim vocabulary) const {
  const auto id = config_.integer(key, {0, vocabulary - 1});
  return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
}

void ConfigReader::check_heads(const StackConfig& stack, Dim model_dim, std::string_view key) const {
  if (model_dim % stack.heads == 0) return;
  refuse<ConfigError>(config_.file(), "{} {} does not divide the model dimension {}", key, stack.heads, model_dim);
}

}  // namespace encdec
