#include "serve/openapi.h"

#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/speech/transcription/transcribe_settings.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "serve/call.h"

namespace encdec::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDocument =
#include "serve_openapi.json.inc"
    ;

// Returns the help text of a command-line option in the words of the API: "a_b" for "--a-b". All answers are JSON.
std::string description_of(std::string_view help) {
  help = help.substr(0, help.find("; needs --json"));
  std::string text;
  bool is_option = false;
  for (std::size_t i = 0; i < help.size(); ++i) {
    if (help.substr(i).starts_with("--")) {
      is_option = true;
      i += 2;
    }
    is_option = is_option && (help[i] == '-' || (help[i] >= 'a' && help[i] <= 'z'));
    text += is_option && help[i] == '-' ? '_' : help[i];
  }
  return text;
}

// Adds the bounds of a number, unless both are equal.
Json in_range(Json schema, double min, double max) {
  if (min == max) return schema;
  const bool is_whole = schema["type"] == "integer";
  const auto add = [&](const char* name, double bound) {
    if (std::isfinite(bound)) schema[name] = is_whole ? Json(static_cast<std::int64_t>(bound)) : Json(bound);
  };
  add("minimum", min);
  add("maximum", max);
  return schema;
}

// Returns the JSON schema of a T. Numbers are from `min` to `max`, unless both are equal.
template <class T>
Json schema_of_type(double min = 0, double max = 0) {
  if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (std::is_integral_v<T>) {
    return in_range({{"type", "integer"}}, min, max);
  } else if constexpr (std::is_floating_point_v<T>) {
    return in_range({{"type", "number"}}, min, max);
  } else if constexpr (std::is_same_v<T, EarlyStopping>) {
    return {{"enum", {true, false, "never"}}};
  } else if constexpr (std::is_same_v<T, ExponentialDecay>) {
    return {{"type", "array"}, {"prefixItems", {schema_of_type<int>(), schema_of_type<float>()}}};
  } else {
    return {{"type", "array"}, {"items", schema_of_type<typename T::value_type>()}};
  }
}

// Returns the schema of a row's option, with the default that it has in Options(); null for a file's path, which no
// client may give.
template <class Options>
Json schema_of(const OptionRow<Options>& row) {
  using Row = OptionRow<Options>;
  Options options;
  return std::visit(
      [&](auto get) -> Json {
        if constexpr (std::is_same_v<decltype(get), typename Row::Word>) {
          const std::vector<std::string> words = choices_of(row.type);
          return {{"enum", words}, {"default", words[get.get(options)]}};
        } else {
          using T = std::remove_cvref_t<decltype(get(options))>;
          const T& value = get(options);
          const double min = row.range.or_zero ? 0 : row.range.min;
          if constexpr (std::is_same_v<T, std::filesystem::path>) {
            return nullptr;
          } else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, TokenIds>) {
            return {{"type", "string"}, {"pattern", "^[^,]+(,[^,]+)*$"}};
          } else if constexpr (requires { value.has_value(); }) {
            Json schema = schema_of_type<typename T::value_type>(min, row.range.max);
            if (value) schema["default"] = *value;
            return schema;
          } else {
            Json schema = schema_of_type<T>(min, row.range.max);
            if constexpr (std::is_same_v<T, double>) {
              if (!std::isfinite(value)) return schema;
            }
            schema["default"] = value;
            return schema;
          }
        }
      },
      row.value);
}

// Adds the options of rows that `properties` does not have.
template <class Options>
void add_rows(std::span<const OptionRow<Options>> rows, Json& properties) {
  for (const OptionRow<Options>& row : rows) {
    Json schema = schema_of(row);
    if (schema.is_null() || properties.contains(row.name)) continue;
    std::string description = row.help.empty() ? "If false: " + description_of(row.no_help) : description_of(row.help);
    for (const std::string_view other : row.other_names) {
      if (other.starts_with('!'))
        description += fmt::format("; {}: the opposite", other.substr(1));
      else if (!other.empty())
        description += fmt::format("; also {}", other);
    }
    schema["description"] = std::move(description);
    properties[std::string(row.name)] = std::move(schema);
  }
}

// Adds the settings of generation that clients may give.
void add_settings(Json& properties) {
  for (const Setting& setting : generation_settings()) {
    setting.with_member([&]<class T>(std::optional<T> GenerateOptions::*) {
      Json schema = schema_of_type<T>(setting.range.min, setting.range.max);
      // The help of lists is about files and texts of the command line.
      const bool is_list = schema.value("type", "") == "array";
      if (!setting.help.empty() && !is_list) schema["description"] = description_of(setting.help);
      properties[std::string(setting.key().empty() ? setting.name : setting.key())] = std::move(schema);
    });
  }
}

Json make_document() {
  Json document = Json::parse(kDocument);
  for (auto& [path, operations] : document["paths"].items()) {
    for (auto& [method, operation] : operations.items()) {
      if (method == "parameters") continue;
      Json& responses = operation["responses"];
      if (responses.is_null()) responses = {{"200", {{"$ref", "#/components/responses/Json"}}}};
      responses["default"] = {{"$ref", "#/components/responses/Error"}};
    }
  }
  Json& schemas = document["components"]["schemas"];
  Json& generation = schemas["Parameters"]["properties"];
  add_settings(generation);
  add_rows(generation_call_options(), generation);
  add_rows(transcribe_settings(), schemas["Speech"]["properties"]);
  add_rows(transcript_line_settings(), schemas["Speech"]["properties"]);
  return document;
}

}  // namespace

const std::string& openapi() {
  static const std::string document = to_text(make_document());
  return document;
}

}  // namespace encdec::serve
