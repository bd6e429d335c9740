#pragma once

#include <cstddef>

// A program that has allocation_watch.cc among its sources gets another operator new.
namespace encdec {

// Counts what is allocated while it lives, by whomever, but for oneDNN.
class AllocationWatch {
 public:
  AllocationWatch();
  ~AllocationWatch();
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;

  int count() const;
};

// While a watch lives, `nth` allocations succeed and the next one throws std::bad_alloc, once.
void fail_allocation(int nth);
void fail_no_allocation();

// Whether it lies in a large block that is in use: arenas, scratch and caches are among them.
bool in_a_large_block(const std::byte* address);

}  // namespace encdec
