#pragma once

#include <functional>
#include <string>

namespace encdec {

// Calls `test` once for every instruction set that Highway has code for and this CPU runs, as if it were the best one;
// the failures of each name it. Not for several threads at once.
void for_each_vector_target(const std::function<void()>& test);

}  // namespace encdec
