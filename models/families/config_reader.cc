#include "encdec/models/families/config_reader.h"

#include <fmt/format.h>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

constexpr std::int64_t kMaxVocabulary = 10'000'000;
constexpr std::int64_t kMaxWidth = 1 << 20;
constexpr std::int64_t kMaxLayers = 1024;

}  // namespace

Dim ConfigReader::vocabulary(std::string_view key, Dim missing) const {
  return config_.integer(key, {1, kMaxVocabulary}).value_or(missing);
}

Dim ConfigReader::width(std::string_view key, Dim missing) const {
  return config_.integer(key, {1, kMaxWidth}).value_or(missing);
}

int ConfigReader::layers(std::string_view key, int missing) const {
  return static_cast<int>(config_.integer(key, {1, kMaxLayers}).value_or(missing));
}

float ConfigReader::epsilon(std::string_view key, double missing) const {
  return static_cast<float>(config_.number(key, {0.0, 1.0}).value_or(missing));
}

Activation ConfigReader::activation(std::string_view key, std::string_view missing) const {
  const std::string name = config_.string(key).value_or(std::string(missing));
  const auto known = activation_named(name);
  if (!known) {
    throw ConfigError(fmt::format("{}: {} '{}' is not supported, expected one of {}", config_.file(), key,
                                  printable(name), activation_names()));
  }
  return *known;
}

std::optional<std::int32_t> ConfigReader::token(std::string_view key, Dim vocabulary) const {
  const auto id = config_.integer(key, {0, vocabulary - 1});
  return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
}

void ConfigReader::check_heads(const StackConfig& stack, Dim model_dim, std::string_view key) const {
  if (model_dim % stack.heads == 0) return;
  throw ConfigError(
      fmt::format("{}: {} {} does not divide the model dimension {}", config_.file(), key, stack.heads, model_dim));
}

}  // namespace encdec
