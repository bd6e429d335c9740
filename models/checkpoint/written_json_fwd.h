#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace encdec {

template <class T, class Enabled = void>
struct WrittenJsonSerializer;

// JSON to be written: keys stay in the order of their coming, and nothing is allocated when a value goes.
// "written_json.h" defines it.
using WrittenJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                                         std::uint64_t, double, std::allocator, WrittenJsonSerializer>;

}  // namespace encdec
