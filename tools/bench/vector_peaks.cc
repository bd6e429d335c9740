#include <encdec/engine/backend/onednn.h>
#include <encdec/engine/base/tensor.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>

#include "bench/counters.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/vector_peaks.cc"
#include <hwy/foreach_target.h>  // compiles the code below once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace encdec::bench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kChains = 12;  // two FMA units with a latency of 4 or 5 cycles need 8 to 10 independent chains

// Runs FMAs on kChains accumulators.
void multiply_add(std::int64_t iterations) {
  const hn::ScalableTag<float> d;
  volatile float factor = 0.5f, addend = 1.0f;  // volatile, so that the compiler does not know the values
  const auto a = hn::Set(d, factor), b = hn::Set(d, addend);
  // Read `addend` for each chain, so that the compiler does not merge the chains.
  hn::Vec<decltype(d)> sums[kChains];
  for (auto& sum : sums) sum = hn::Set(d, addend);
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (auto& sum : sums) sum = hn::MulAdd(sum, a, b);
  }
  auto total = sums[0];
  for (int chain = 1; chain < kChains; ++chain) total = hn::Add(total, sums[chain]);
  volatile float result = hn::GetLane(hn::SumOfLanes(d, total));
  static_cast<void>(result);
}

double multiply_add_operations() {
  return 2.0 * kChains * static_cast<double>(hn::Lanes(hn::ScalableTag<float>()));
}

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

// Reads `count` numbers, and computes their maximum so that the compiler keeps the loads.
// REQUIRES: `count` is a multiple of eight vectors.
void read(const float* HWY_RESTRICT values, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (std::size_t i = 0; i < count; i += 8 * lanes) {
    const float* at = values + i;
    s0 = hn::Max(s0, hn::Max(hn::Load(d, at), hn::Load(d, at + 4 * lanes)));
    s1 = hn::Max(s1, hn::Max(hn::Load(d, at + lanes), hn::Load(d, at + 5 * lanes)));
    s2 = hn::Max(s2, hn::Max(hn::Load(d, at + 2 * lanes), hn::Load(d, at + 6 * lanes)));
    s3 = hn::Max(s3, hn::Max(hn::Load(d, at + 3 * lanes), hn::Load(d, at + 7 * lanes)));
  }
  volatile float result = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(s0, s1), hn::Max(s2, s3))));
  static_cast<void>(result);
}

}  // namespace
}  // namespace encdec::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace encdec::bench {
namespace {

HWY_EXPORT(multiply_add);
HWY_EXPORT(multiply_add_operations);
HWY_EXPORT(target_name);
HWY_EXPORT(read);

constexpr std::size_t kReadBytes = std::size_t{512} << 20;
// Make many short attempts, so that some of them are not interrupted on a busy machine.
constexpr int kAttempts = 48;
constexpr int kParts = 8;  // number of parts of the memory; an attempt reads one part

// Returns the shortest time of kAttempts attempts. In each attempt, all threads start at the same time and call
// work(thread, attempt).
template <class Work>
double best_seconds(int threads, const Work& work) {
  using Clock = std::chrono::steady_clock;
  std::barrier gate(threads);
  double best = 1e30;
  const auto attempt = [&](int thread) {
    for (int i = 0; i < kAttempts; ++i) {
      gate.arrive_and_wait();
      const auto start = Clock::now();
      work(thread, i);
      gate.arrive_and_wait();
      if (thread == 0) best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
  };
  std::vector<std::jthread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(attempt, thread);
  attempt(0);
  others.clear();
  return best;
}

}  // namespace

RegisterLoop float32_loop() {
  return {.name = std::string("float32 ") + HWY_DYNAMIC_DISPATCH(target_name)(),
          .run =
              [](std::int64_t iterations) {
                HWY_DYNAMIC_DISPATCH(multiply_add)
                (iterations);
              },
          .operations = HWY_DYNAMIC_DISPATCH(multiply_add_operations)()};
}

RegisterLoop matmul_loop() {
  const backend::InstructionSets& cpu = backend::instruction_sets();
  std::string name;
  if (precision() == Precision::int8) name = cpu.amx ? "int8 AMX" : cpu.avx512_vnni ? "int8 AVX-512 VNNI" : "";
  if (precision() == Precision::bfloat16) {
    name = cpu.amx ? "bfloat16 AMX" : cpu.avx512_bfloat16 ? "bfloat16 AVX-512" : "";
  }
  for (const RegisterLoop& loop : low_precision_loops()) {
    if (loop.name == name) return loop;
  }
  return float32_loop();
}

double measure(const RegisterLoop& loop, int threads) {
  // Choose enough iterations for a run of at least a millisecond.
  constexpr double kSeconds = 0.001;
  std::int64_t iterations = 1024;
  while (best_seconds(1, [&](int, int) { loop.run(iterations); }) < kSeconds) iterations *= 4;
  const double seconds = best_seconds(threads, [&](int, int) { loop.run(iterations); });
  return loop.operations * static_cast<double>(iterations) * threads / seconds;
}

double read_bandwidth(int threads) {
  constexpr std::size_t kBlock = 4096;  // number of floats; a multiple of eight vectors of any size
  const auto count = static_cast<std::size_t>(threads);
  const std::size_t share = kReadBytes / sizeof(float) / kParts / count / kBlock * kBlock;
  Tensor memory = Tensor::uninitialized({static_cast<Dim>(share * count * kParts)});
  std::fill_n(memory.data<float>(), memory.elements(), 1.0f);  // unwritten pages could all map to one zero page
  const double seconds = best_seconds(threads, [&](int thread, int attempt) {
    const auto part = static_cast<std::size_t>(attempt % kParts * threads + thread);
    HWY_DYNAMIC_DISPATCH(read)(memory.data<float>() + part * share, share);
  });
  return static_cast<double>(share * count * sizeof(float)) / seconds;
}

const Peaks& peaks() {
  static const Peaks measured{.matmul = measure(matmul_loop(), thread_count()),
                              .read_bandwidth = read_bandwidth(thread_count())};
  return measured;
}

}  // namespace encdec::bench
#endif
