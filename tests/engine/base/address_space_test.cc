#include "encdec/engine/base/address_space.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <vector>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/thread_team.h"

namespace encdec {
namespace {

TEST(AddressSpace, IsHeldByOneThreadAtATime) {
  backend::MatMulPrimitives made;
  const std::vector<std::function<void()>> takers = {
      [] { Tensor::uninitialized({1 << 20}); },
      [] { start_thread(1, 1, [] {}).join(); },
      [] { backend::MatMulPrimitives(); },
      [&made] { made.implementation({.input_width = 64, .output_width = 64}, 1); },
  };
  for (std::size_t i = 0; i < takers.size(); ++i) {
    std::unique_lock lock(address_space());
    const auto taken = std::async(std::launch::async, takers[i]);
    EXPECT_EQ(taken.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout) << i;
    lock.unlock();
  }
}

TEST(AddressSpace, IsNotLockedForSmallTensors) {
  const std::lock_guard lock(address_space());
  EXPECT_FALSE(Tensor::uninitialized({1024}).empty());
}

}  // namespace
}  // namespace encdec
