#pragma once

#include <mutex>

namespace encdec {

// Held by those who take large pieces of the address space, a thread its stack, a tensor its pages, and by those who
// must find a rest of it because they cannot report that there is none. For moments, and nothing else is locked within.
std::mutex& address_space();

}  // namespace encdec
