#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "encdec/engine/base/dtype.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::backend {

// Instruction sets that this process uses: those of the CPU, unless ENCDEC_MAX_ISA or ONEDNN_MAX_CPU_ISA allows fewer.
struct InstructionSets {
  bool avx512 = false;           // AVX-512 with the byte, word and double word instructions of Skylake
  bool avx512_vnni = false;      // sums of products of bytes
  bool avx512_bfloat16 = false;  // sums of products of bfloat16
  bool amx = false;              // both kinds of sums, on tiles
};

// Returns the instruction sets. The first call also applies the limit to our own kernels; before that call they may use
// more.
// Throws ConfigError if ENCDEC_MAX_ISA is not a known set, or if this process used oneDNN before the first call.
const InstructionSets& instruction_sets();

// y = x W: x [M, K], W [K, N], y [M, N].
//   float32   all are float32
//   bfloat16  x and W are bfloat16, y is float32
//   int8      x is uint8, W int8 and y int32
struct PrimitiveSpec {
  int input_width = 0;   // K
  int output_width = 0;  // N
  DataType type = DataType::float32;
  kernels::PanelOrder order = {};  // order of W

  friend bool operator==(const PrimitiveSpec& a, const PrimitiveSpec& b) = default;
};

// Dense rows.
struct PrimitiveArguments {
  int rows = 0;  // M
  const void* input = nullptr;
  const void* weights = nullptr;
  void* output = nullptr;
};

// One thread's oneDNN primitives, with their argument lists: one for each (spec, M) that was used recently. At most
// kMaxPrimitives are kept, and the least recently used is dropped, so memory stays bounded for any number of sizes.
class MatMulPrimitives {
 public:
  static constexpr std::size_t kMaxPrimitives = 512;

  MatMulPrimitives();
  ~MatMulPrimitives();
  MatMulPrimitives(MatMulPrimitives&&) noexcept;
  MatMulPrimitives& operator=(MatMulPrimitives&&) noexcept;

  // Computes on the calling thread alone. Throws BackendError. A row's result may depend on the number of rows; see
  // try_rows().
  void run(const PrimitiveSpec& spec, const PrimitiveArguments& arguments);

  // Returns memory for the caller, valid until the next call.
  std::byte* scratch(std::size_t bytes);

  // Returns the name of oneDNN's implementation, such as "brg:avx512_core".
  std::string implementation(const PrimitiveSpec& spec, int rows);
  std::size_t size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Order of a matrix [N, K] as checkpoints store it.
inline constexpr kernels::PanelOrder kRowOrder = {.columns = 1, .group = 1, .padding = 1};

// The implementation by which oneDNN multiplies in a type on this CPU.
struct OneDnnImplementation {
  kernels::PanelOrder order = {};  // order in which it wants the weights; kRowOrder if packing has no such order
  std::string name;                // such as "brg:avx512_core"
};

// Returns nullopt if oneDNN has no matmul for the type, or only its reference implementation, which takes hundreds of
// times as long.
std::optional<OneDnnImplementation> onednn_implementation(DataType type);

// Returns the version of the library found at run time: "2.6.3".
std::string onednn_version();

}  // namespace encdec::backend
