#pragma once

#include <cstddef>

// Linking allocation_watch.cc replaces operator new in a program.
namespace encdec {

// A counter of the allocations of all threads during its lifetime, except those that oneDNN makes.
class AllocationWatch {
 public:
  AllocationWatch();
  ~AllocationWatch();
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;

  int count() const;
};

// Makes one allocation throw std::bad_alloc: the first after `nth` more that succeed. Only allocations during the
// lifetime of a watch count.
void fail_allocation(int nth);
// Cancels fail_allocation().
void fail_no_allocation();

// Returns whether the address is in an allocated block of at least 32 KiB. Arenas, scratch memory and caches are in
// such blocks.
bool in_a_large_block(const std::byte* address);

}  // namespace encdec
