#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "encdec/models/checkpoint/json.h"
#include "tests/fuzz/require.h"

namespace encdec {

// Calls use(object) if the input is a JSON object. Requires that errors of parsing and of `use` name `file`.
template <class Use>
void fuzz_json_object(const std::uint8_t* data, std::size_t size, const char* file, const Use& use) {
  reads_or_refuses<Error>(file, [&] { use(JsonObject(parse_json(text_of(data, size), file), file)); });
}

}  // namespace encdec
