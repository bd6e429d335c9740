#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace encdec {

template <class T, class Enabled = void>
struct WrittenJsonSerializer;

// A JSON value to be written. Keys stay in the order in which they were added, and destruction allocates nothing.
// Defined in "written_json.h".
using WrittenJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                                         std::uint64_t, double, std::allocator, WrittenJsonSerializer>;

}  // namespace encdec
