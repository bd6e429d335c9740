#include "tests/support/allocation_watch.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace {

std::atomic<bool> watching{false};
std::atomic<int> allocations{0};
std::atomic<int> allowed{-1};  // allocations until one fails; -1: none fails

// The allocated blocks of at least kLarge bytes.
struct Chunk {
  const std::byte* start = nullptr;
  std::size_t size = 0;
};
std::mutex blocks_mutex;
std::array<Chunk, 256> blocks;
constexpr std::size_t kLarge = 32 * 1024;

void note_block(const void* memory, std::size_t size) {
  const std::lock_guard lock(blocks_mutex);
  for (Chunk& block : blocks) {
    if (block.start != nullptr) continue;
    block = {static_cast<const std::byte*>(memory), size};
    return;
  }
}

void forget_block(const void* memory) {
  if (memory == nullptr) return;
  const std::lock_guard lock(blocks_mutex);
  for (Chunk& block : blocks) {
    if (block.start == memory) block = {};
  }
}

// oneDNN's own allocations are not counted: it puts the arguments of each call into a small map.
bool called_from_onednn(void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr && std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

void* allocate(std::size_t size, std::size_t alignment, void* caller) {
  if (watching.load() && !called_from_onednn(caller)) {
    allocations.fetch_add(1);
    if (allowed.load() >= 0 && allowed.fetch_sub(1) <= 0) {
      allowed.store(-1);
      throw std::bad_alloc();
    }
  }
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) {
    if (rounded >= kLarge) note_block(memory, rounded);
    return memory;
  }
  throw std::bad_alloc();
}

// Not inlined: the compiler would warn that memory of operator new is released by free().
[[gnu::noinline]] void release(void* memory) {
  forget_block(memory);
  std::free(memory);
}

}  // namespace

// Not inlined: the return address must be the caller's.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return allocate(size, 16, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return allocate(size, 16, __builtin_return_address(0));
}
// std::stable_sort allocates its buffer with this operator. The address sanitizer replaces the operator too.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return allocate(size, 16, __builtin_return_address(0));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace encdec {

AllocationWatch::AllocationWatch() {
  allocations.store(0);
  watching.store(true);
}
AllocationWatch::~AllocationWatch() {
  watching.store(false);
}

int AllocationWatch::count() const {
  return allocations.load();
}

void fail_allocation(int nth) {
  allowed.store(nth);
}

void fail_no_allocation() {
  allowed.store(-1);
}

bool in_a_large_block(const std::byte* address) {
  const std::lock_guard lock(blocks_mutex);
  for (const Chunk& block : blocks) {
    if (block.start != nullptr && block.start <= address && address < block.start + block.size) return true;
  }
  return false;
}

}  // namespace encdec
