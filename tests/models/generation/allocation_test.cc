// Memory of a search: its steps allocate nothing but room for more tokens. This program replaces operator new.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <vector>

#include "encdec/models/model.h"

namespace {

std::atomic<int> allocations{0};

// oneDNN puts the arguments of each call into a small map of its own; what it does inside is not ours to count.
bool called_from_onednn(void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr && std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

void* allocate(std::size_t size, std::size_t alignment, void* caller) {
  if (!called_from_onednn(caller)) allocations.fetch_add(1);
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) return memory;
  throw std::bad_alloc();
}

// Not inlined: the compiler would see free() meet operator new.
[[gnu::noinline]] void release(void* memory) {
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
namespace {

constexpr int kTokens = 58;
// Until then everything has been as large as it needs to be, and room for tokens, which doubles, is enough to the end.
constexpr std::size_t kFirstQuietStep = 40;

// How many allocations each step of the second of two equal calls makes.
std::vector<int> allocations_by_step(GenerateOptions options, int sources) {
  const Model model =
      Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "marian" / "shared_swish" / "model", {.threads = 1});
  std::vector<GenerateInput> inputs;
  for (int i = 0; i < sources; ++i) inputs.push_back({TokenIds{5, 6, 3 + i}});
  std::vector<int> counts;
  counts.reserve(2 * kTokens);
  int before = 0;
  options.min_new_tokens = options.max_new_tokens = kTokens;
  options.on_progress = [&](const GenerateProgress&) {
    counts.push_back(allocations.load() - before);
    before = allocations.load();
  };
  model.generate_inputs(inputs, options);
  counts.clear();
  model.generate_inputs(inputs, options);
  return counts;
}

void expect_quiet_steps(const GenerateOptions& options) {
  for (const int sources : {1, 3}) {
    const std::vector<int> counts = allocations_by_step(options, sources);
    ASSERT_EQ(counts.size(), static_cast<std::size_t>(kTokens));
    EXPECT_GT(counts.front(), 0) << "the count sees nothing";
    // The last step makes the results.
    for (std::size_t step = kFirstQuietStep; step + 1 < counts.size(); ++step) {
      EXPECT_EQ(counts[step], 0) << "step " << step << ", " << sources << " sources";
    }
  }
}

TEST(GenerationAllocation, AGreedyStepAllocatesNothing) {
  expect_quiet_steps({.num_beams = 1});
}

TEST(GenerationAllocation, AStepOfBeamsAllocatesNothing) {
  expect_quiet_steps({.num_beams = 4});
}

}  // namespace
}  // namespace encdec
