#pragma once

#include <functional>
#include <string>

namespace encdec {

// Calls `test` once for each instruction set that both Highway and this CPU support, with that instruction set as the
// best one. Failures name the instruction set. Not thread-safe.
void for_each_vector_target(const std::function<void()>& test);

}  // namespace encdec
