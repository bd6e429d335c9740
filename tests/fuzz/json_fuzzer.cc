// Calls parse_json() with arbitrary text, and every function of JsonObject on the result.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "encdec/models/checkpoint/json.h"
#include "tests/fuzz/require.h"

namespace encdec {
namespace {

const char* const kFile = "config.json";

void read_every_type(const JsonObject& object) {
  for (const auto& item : object.value().items()) {
    const std::string& key = item.key();
    const nlohmann::json& value = item.value();
    require(object.has(key) == !value.is_null(), "null is absent");
    // Messages quote keys unchanged, since the library only asks for keys that are its own constants. Skip other keys
    // that would make a message of several lines, or a long one.
    if (key.find_first_of("\n\r\033") != key.npos || key.size() > 1000) continue;
    reads_or_refuses<ConfigError>(kFile, [&] { object.integer(key); });
    reads_or_refuses<ConfigError>(kFile, [&] {
      if (const auto found = object.integer(key, {0, 100})) require(*found >= 0 && *found <= 100, "ranges hold");
    });
    reads_or_refuses<ConfigError>(kFile, [&] { object.number(key); });
    reads_or_refuses<ConfigError>(kFile, [&] { object.boolean(key); });
    reads_or_refuses<ConfigError>(kFile, [&] { object.string(key); });
    reads_or_refuses<ConfigError>(kFile, [&] { object.integers(key, {.min = 0}); });
    reads_or_refuses<ConfigError>(kFile, [&] { object.integer_lists(key, {.max = 9}); });
    reads_or_refuses<ConfigError>(kFile, [&] { object.strings(key); });
    reads_or_refuses<ConfigError>(kFile, [&] {
      if (const auto inner = object.object(key)) require(inner->value() == value, "an inner object is the value");
    });
  }
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const std::string_view text = text_of(data, size);
  nlohmann::json value;
  if (!reads_or_refuses(kFile, [&] { value = parse_json(text, kFile); })) return 0;
  require(nlohmann::json::accept(text), "what is taken is JSON");
  require(parse_json(value.dump(), kFile) == value, "a value survives being written and read");
  if (value.is_object()) read_every_type(JsonObject(value, kFile));
  return 0;
}
