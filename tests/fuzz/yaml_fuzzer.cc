// Calls parse_yaml() with arbitrary text.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "encdec/models/checkpoint/yaml.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const std::string_view text = text_of(data, size);
  reads_or_refuses("x.yml", [&] {
    const nlohmann::json value = parse_yaml(text, "x.yml");
    require(parse_yaml(text, "x.yml") == value, "a second time gives the same");
    // A value can be written as JSON: it is valid UTF-8 with finite numbers and bounded depth.
    require(parse_json(value.dump(), "x.yml") == value, "values are JSON");
  });
  return 0;
}
