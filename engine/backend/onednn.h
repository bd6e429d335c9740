#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "encdec/engine/base/dtype.h"
#include "encdec/engine/kernels/panel_order.h"

namespace encdec::backend {

// Instruction sets of this CPU, limited by ENCDEC_MAX_ISA and ONEDNN_MAX_CPU_ISA.
struct InstructionSets {
  bool avx512 = false;           // with the byte, word and double word instructions of Skylake
  bool avx512_vnni = false;      // dot products of bytes
  bool avx512_bfloat16 = false;  // dot products of bfloat16
  bool amx = false;              // both kinds of dot products, on tiles
};

// The first call also applies the limit to our own kernels, which use all instructions until then. Throws ConfigError
// if ENCDEC_MAX_ISA is unknown, or if oneDNN was used before the first call.
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

struct PrimitiveArguments {
  int rows = 0;  // M
  const void* input = nullptr;
  const void* weights = nullptr;
  void* output = nullptr;
};

// The oneDNN primitives of one thread, with their argument lists. There is one primitive for each recently used pair of
// spec and M, and at most kMaxPrimitives of them.
class MatMulPrimitives {
 public:
  static constexpr std::size_t kMaxPrimitives = 512;

  MatMulPrimitives();
  ~MatMulPrimitives();
  MatMulPrimitives(MatMulPrimitives&&) noexcept;
  MatMulPrimitives& operator=(MatMulPrimitives&&) noexcept;

  // Runs on the calling thread alone. Throws BackendError. A row's result may depend on the number
  // of rows; see try_rows().
  void run(const PrimitiveSpec& spec, const PrimitiveArguments& arguments);

  std::byte* scratch(std::size_t bytes);  // valid until the next call

  std::string implementation(const PrimitiveSpec& spec, int rows);  // such as "brg:avx512_core"
  std::size_t size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The order in which checkpoints store a matrix [N, K].
inline constexpr kernels::PanelOrder kRowOrder = {.columns = 1, .group = 1, .padding = 1};

// The oneDNN implementation for a type on this CPU.
struct OneDnnImplementation {
  kernels::PanelOrder order = {};  // preferred order of weights, or kRowOrder if packing cannot write it
  std::string name;                // such as "brg:avx512_core"
};

// Returns nullopt if oneDNN has no matmul for the type except its very slow reference implementation.
std::optional<OneDnnImplementation> onednn_implementation(DataType type);

std::string onednn_version();  // version of the loaded library: "2.6.3"

}  // namespace encdec::backend
