#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "tests/fuzz/require.h"

namespace encdec {

// Calls use(object) if the input is a JSON object. Requires that errors of parsing and of `use` name `file`.
template <class Use>
void fuzz_json_object(const std::uint8_t* data, std::size_t size, const char* file, const Use& use) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    use(JsonObject(parse_json(text, file), file));
  } catch (const Error& error) {
    require_good_message(error.what(), file);
  }
}

}  // namespace encdec
