#include "encdec/models/families/families.h"

#include <fmt/format.h>

#include <array>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

constexpr std::array<const Family*, 1> kFamilies = {&kMarian};

// Matches `name` against a canonical pattern. Returns the rest of the name after the match, and the layer number.
struct Match {
  std::string_view rest;
  std::string_view layer;
};

std::optional<Match> match(std::string_view pattern, std::string_view name) {
  Match result;
  const std::size_t star = pattern.find('*');
  if (star != std::string_view::npos) {
    if (!name.starts_with(pattern.substr(0, star))) return std::nullopt;
    const std::size_t end = std::min(name.find('.', star), name.size());
    result.layer = name.substr(star, end - star);
    name.remove_prefix(end);
    pattern.remove_prefix(star + 1);
  }
  if (!name.starts_with(pattern)) return std::nullopt;
  result.rest = name.substr(pattern.size());
  if (!result.rest.empty() && !result.rest.starts_with('.')) return std::nullopt;
  return result;
}

// Replaces "*+1" by the layer number plus one, or "*" by the number.
void put_layer(std::string& stored, std::string_view layer) {
  const auto star = stored.find('*');
  if (star == std::string::npos) return;
  if (stored.compare(star, 3, "*+1") == 0) {
    stored.replace(star, 3, std::to_string(std::stoi(std::string(layer)) + 1));
  } else {
    stored.replace(star, 1, layer);
  }
}

}  // namespace

const Family& find_family(const JsonObject& config) {
  const std::string model_type = config.required_string("model_type");
  std::string supported;
  for (const Family* family : kFamilies) {
    if (family->model_type == model_type) return *family;
    supported += fmt::format("{}'{}'", supported.empty() ? "" : ", ", family->model_type);
  }
  throw ConfigError(
      fmt::format("{}: model_type '{}' is not supported, expected one of {}", config.file(), model_type, supported));
}

WeightNames names_by_table(std::vector<NamePattern> table) {
  return [table = std::move(table)](const std::string& canonical) {
    std::vector<StoredName> names;
    for (const NamePattern& row : table) {
      const auto matched = match(row.canonical, canonical);
      if (!matched) continue;
      for (StoredName stored : row.stored) {
        put_layer(stored.name, matched->layer);
        stored.name += matched->rest;
        names.push_back(std::move(stored));
      }
      break;
    }
    return names;
  };
}

}  // namespace encdec
