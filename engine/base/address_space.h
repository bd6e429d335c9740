#pragma once

#include <mutex>

namespace encdec {

// A mutex for two kinds of calls: large allocations (thread stacks, tensors), and library calls that crash if an
// allocation fails. Before such a library call, its caller takes the mutex and checks that enough memory is free. No
// large allocation can take that memory before the call is done.
// Hold the mutex briefly, and take no other lock while holding it.
std::mutex& address_space();

}  // namespace encdec
