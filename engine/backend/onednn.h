#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace encdec::backend {

// What this process uses of the CPU: what it has, or less if ONEDNN_MAX_CPU_ISA says so.
struct InstructionSets {
  bool avx512 = false;           // with the byte, word and double word instructions of Skylake
  bool avx512_vnni = false;      // sums of products of bytes
  bool avx512_bfloat16 = false;  // sums of products of bfloat16
  bool amx = false;              // both, on tiles
};

// Before the first call our own kernels may use more than allowed.
const InstructionSets& instruction_sets();

// y = x W (+ bias) (, then relu) (+ residual): x [M, K], y [M, N], all of float32. W is in kernels::PanelOrder{wide,
// 1}.
struct PrimitiveSpec {
  int input_width = 0;   // K
  int output_width = 0;  // N
  bool bias = false;
  bool relu = false;
  bool residual = false;

  friend bool operator==(const PrimitiveSpec& a, const PrimitiveSpec& b) = default;
};

// Dense rows, and null for what the spec has not.
struct PrimitiveArguments {
  int rows = 0;  // M
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr;
  const float* residual = nullptr;
  float* output = nullptr;
};

// One thread's calls into oneDNN: primitives, ready for every (spec, M) seen lately, with their argument lists.
// Bounded: the least recently used is dropped, so memory stays flat however many sizes a process sees.
class MatMulPrimitives {
 public:
  static constexpr std::size_t kMaxPrimitives = 512;

  MatMulPrimitives();
  ~MatMulPrimitives();
  MatMulPrimitives(MatMulPrimitives&&) noexcept;
  MatMulPrimitives& operator=(MatMulPrimitives&&) noexcept;

  // Computes on the calling thread alone. Throws BackendError. A row's result may depend on how many there are: see
  // try_rows().
  void run(const PrimitiveSpec& spec, const PrimitiveArguments& arguments);

  // The caller's, until the next call.
  std::byte* scratch(std::size_t bytes);

  // Name of oneDNN's implementation, such as "brg:avx512_core".
  std::string implementation(const PrimitiveSpec& spec, int rows);
  std::size_t size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "2.6.3": of the library found at run time.
std::string onednn_version();

}  // namespace encdec::backend
