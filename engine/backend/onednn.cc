// This is the only file that includes oneDNN. Only describe() depends on the version of the API (2.x or 3.x).
// Primitives are single-threaded and run on the calling thread. A ThreadTeam gives each of its threads whole
// primitives, so no thread waits or spins in an OpenMP region.
#include "encdec/engine/backend/onednn.h"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/machine.h"
#include "encdec/engine/base/tensor.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
// The functions are declared here, because <omp.h> needs compiler flags that link a second OpenMP runtime under clang.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int count);
}
#endif

namespace encdec::backend {
namespace {

using dnnl::memory;

// Limits oneDNN to one thread while the object lives, then restores the caller's setting.
class SingleThreaded {
 public:
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  SingleThreaded() : saved_(omp_get_max_threads()) {
    if (saved_ != 1) omp_set_num_threads(1);
  }
  ~SingleThreaded() {
    if (saved_ != 1) omp_set_num_threads(saved_);
  }

 private:
  int saved_;
#else
  SingleThreaded() {}
  ~SingleThreaded() {}
#endif
 public:
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;
};

#if HWY_ARCH_X86
// Returns true if oneDNN may use an instruction set. The bits of a set include the bits of all smaller sets.
bool allows(dnnl::cpu_isa isa) {
  using Bits = std::underlying_type_t<dnnl::cpu_isa>;
  return (static_cast<Bits>(dnnl::get_effective_cpu_isa()) & static_cast<Bits>(isa)) == static_cast<Bits>(isa);
}
#endif

// Passes ENCDEC_MAX_ISA to oneDNN. Throws ConfigError if the value is unknown, or if oneDNN was already used.
void limit_onednn() {
  const char* const limit = std::getenv("ENCDEC_MAX_ISA");
  if (limit == nullptr || *limit == '\0') return;
#if HWY_ARCH_X86
  constexpr std::array<std::pair<std::string_view, dnnl::cpu_isa>, 5> kSets = {{
      {"sse4.1", dnnl::cpu_isa::sse41},
      {"avx2", dnnl::cpu_isa::avx2},
      {"avx512", dnnl::cpu_isa::avx512_core},
      {"avx512_vnni", dnnl::cpu_isa::avx512_core_vnni},
      {"avx512_bf16", dnnl::cpu_isa::avx512_core_bf16},
  }};
  for (const auto& [name, isa] : kSets) {
    if (name != limit) continue;
    if (dnnl::set_max_cpu_isa(isa) == dnnl::status::success) return;
    throw ConfigError(fmt::format("ENCDEC_MAX_ISA is '{}', which comes too late: oneDNN was used before", limit));
  }
  throw ConfigError(
      fmt::format("ENCDEC_MAX_ISA is '{}', expected sse4.1, avx2, avx512, avx512_vnni or avx512_bf16", limit));
#else
  throw ConfigError(fmt::format("ENCDEC_MAX_ISA is '{}', expected it to be unset on this kind of CPU", limit));
#endif
}

// Limits our own kernels to the instructions that oneDNN may use.
void follow_instruction_limit() {
  limit_onednn();
#if HWY_ARCH_X86
  // In Highway, better instruction sets have lower numbers. There is no number for AVX without AVX2.
  if (!allows(dnnl::cpu_isa::avx2)) {
    hwy::DisableTargets(HWY_SSE4 - 1);
  } else if (!allows(dnnl::cpu_isa::avx512_core)) {
    hwy::DisableTargets(HWY_AVX2 - 1);
  }
#endif
}

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Runs `action`, and turns exceptions of oneDNN into BackendError.
template <class Action>
auto translate_errors(const PrimitiveSpec& spec, const Action& action) {
  try {
    return action();
  } catch (const dnnl::error& error) {
    throw BackendError(fmt::format("oneDNN {}: matmul [M, {}] x [{}, {}]: {}", onednn_version(), spec.input_width,
                                   spec.input_width, spec.output_width, error.what()));
  }
}

struct Types {
  memory::data_type input, weights, output;
};

Types types_of(DataType type) {
  using enum memory::data_type;
  switch (type) {
    case DataType::bfloat16: return {bf16, bf16, f32};
    case DataType::int8: return {u8, s8, s32};
    default: return {f32, f32, f32};
  }
}

struct TaggedOrder {
  memory::format_tag tag;
  kernels::PanelOrder order;
};

// The orders of weights that packing can write. oneDNN 2.6 to 3.x prefers one of the first three orders.
constexpr std::array kOrders = {
    TaggedOrder{memory::format_tag::BA16a64b, {64, 1}},
    TaggedOrder{memory::format_tag::BA16a64b2a, {64, 2}},
    TaggedOrder{memory::format_tag::BA16a64b4a, {64, 4}},
    TaggedOrder{memory::format_tag::ba, kRowOrder},
};

memory::format_tag tag_of(const kernels::PanelOrder& order) {
  return std::ranges::find(kOrders, order, &TaggedOrder::order)->tag;
}

// Describes a primitive. We provide the scratchpad, because a scratchpad of oneDNN would belong to the creating thread.
dnnl::matmul::primitive_desc describe(const PrimitiveSpec& spec, int rows, memory::format_tag order) {
  const Types types = types_of(spec.type);
  const memory::desc source({rows, spec.input_width}, types.input, memory::format_tag::ab);
  const memory::desc weights({spec.input_width, spec.output_width}, types.weights, order);
  const memory::desc destination({rows, spec.output_width}, types.output, memory::format_tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return {cpu(), source, weights, destination, attributes};
#else
  return {dnnl::matmul::desc(source, weights, destination), attributes, cpu()};
#endif
}

}  // namespace

const InstructionSets& instruction_sets() {
  static const InstructionSets sets = [] {
    follow_instruction_limit();
    InstructionSets found;
#if HWY_ARCH_X86
    found.avx512 = allows(dnnl::cpu_isa::avx512_core);
    found.avx512_vnni = allows(dnnl::cpu_isa::avx512_core_vnni);
    found.avx512_bfloat16 = allows(dnnl::cpu_isa::avx512_core_bf16);
    found.amx = allows(dnnl::cpu_isa::avx512_core_amx) && has_matrix_tiles();
#endif
    return found;
  }();
  return sets;
}

struct MatMulPrimitives::Impl {
  struct Key {
    PrimitiveSpec spec;
    int rows = 0;
    friend bool operator==(const Key& a, const Key& b) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::size_t hash = static_cast<std::size_t>(key.spec.input_width);
      hash = hash * 1000003 + static_cast<std::size_t>(key.spec.output_width);
      hash = hash * 1000003 + static_cast<std::size_t>(key.rows);
      return hash * 4 + static_cast<std::size_t>(key.spec.type);
    }
  };
  // A primitive and its arguments. Only the addresses of the data differ between calls.
  struct Call {
    dnnl::matmul primitive;
    std::string implementation;
    memory source, weights, destination, scratchpad;
    std::size_t scratchpad_bytes = 0;
    std::uint64_t last_use = 0;
  };

  dnnl::stream stream{cpu()};
  std::unordered_map<Key, Call, KeyHash> calls;
  Tensor scratchpad;
  Tensor scratch;
  std::uint64_t clock = 0;

  Call& find(const PrimitiveSpec& spec, int rows);
};

MatMulPrimitives::Impl::Call& MatMulPrimitives::Impl::find(const PrimitiveSpec& spec, int rows) {
  const Key key{spec, rows};
  auto found = calls.find(key);
  if (found == calls.end()) {
    // Drop the least recently used primitive.
    if (calls.size() >= kMaxPrimitives) {
      calls.erase(std::ranges::min_element(calls, {}, [](const auto& entry) { return entry.second.last_use; }));
    }
    const auto description = describe(spec, rows, tag_of(spec.order));
    Call call;
    call.primitive = dnnl::matmul(description);
    call.implementation = description.impl_info_str();
    call.source = memory(description.src_desc(), cpu(), nullptr);
    call.weights = memory(description.weights_desc(), cpu(), nullptr);
    call.destination = memory(description.dst_desc(), cpu(), nullptr);
    call.scratchpad_bytes = description.scratchpad_desc().get_size();
    if (call.scratchpad_bytes > 0) call.scratchpad = memory(description.scratchpad_desc(), cpu(), nullptr);
    found = calls.emplace(key, std::move(call)).first;
  }
  Call& call = found->second;
  call.last_use = ++clock;
  if (call.scratchpad_bytes > 0 && (scratchpad.empty() || scratchpad.bytes() < call.scratchpad_bytes)) {
    scratchpad = Tensor::of_bytes(call.scratchpad_bytes);
  }
  return call;
}

MatMulPrimitives::MatMulPrimitives() : impl_(std::make_unique<Impl>()) {}
MatMulPrimitives::~MatMulPrimitives() = default;
MatMulPrimitives::MatMulPrimitives(MatMulPrimitives&&) noexcept = default;
MatMulPrimitives& MatMulPrimitives::operator=(MatMulPrimitives&&) noexcept = default;

void MatMulPrimitives::run(const PrimitiveSpec& spec, const PrimitiveArguments& given) {
  const SingleThreaded guard;
  translate_errors(spec, [&] {
    Impl::Call& call = impl_->find(spec, given.rows);
    // Use the C interface, because the C++ interface builds a hash map in every call.
    std::array<dnnl_exec_arg_t, 4> arguments;
    int count = 0;
    const auto add = [&](int name, memory& argument, const void* data) {
      argument.set_data_handle(const_cast<void*>(data));
      arguments[static_cast<std::size_t>(count++)] = {name, argument.get()};
    };
    add(DNNL_ARG_SRC, call.source, given.input);
    add(DNNL_ARG_WEIGHTS, call.weights, given.weights);
    add(DNNL_ARG_DST, call.destination, given.output);
    if (call.scratchpad_bytes > 0) add(DNNL_ARG_SCRATCHPAD, call.scratchpad, impl_->scratchpad.raw());
    dnnl::error::wrap_c_api(dnnl_primitive_execute(call.primitive.get(), impl_->stream.get(), count, arguments.data()),
                            "could not run the matmul");
  });
}

std::byte* MatMulPrimitives::scratch(std::size_t bytes) {
  if (impl_->scratch.empty() || impl_->scratch.bytes() < bytes) {
    impl_->scratch = Tensor::of_bytes(bytes);
  }
  return impl_->scratch.raw();
}

std::string MatMulPrimitives::implementation(const PrimitiveSpec& spec, int rows) {
  const SingleThreaded guard;
  return translate_errors(spec, [&] { return impl_->find(spec, rows).implementation; });
}

std::size_t MatMulPrimitives::size() const {
  return impl_->calls.size();
}

std::optional<OneDnnImplementation> onednn_implementation(DataType type) {
  constexpr int kWidth = 256;
  const SingleThreaded guard;
  PrimitiveSpec spec{.input_width = kWidth, .output_width = kWidth, .type = type};
  try {
    // Use the order of weights that oneDNN prefers, if packing can write this order.
    const memory::desc wanted = describe(spec, kWidth, memory::format_tag::any).weights_desc();
    const auto* found = std::ranges::find_if(kOrders, [&](const TaggedOrder& known) {
      return wanted == memory::desc({kWidth, kWidth}, types_of(type).weights, known.tag);
    });
    spec.order = found != kOrders.end() ? found->order : kRowOrder;
    const std::string name = describe(spec, kWidth, tag_of(spec.order)).impl_info_str();
    if (name.starts_with("ref")) return std::nullopt;
    return OneDnnImplementation{spec.order, name};
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace encdec::backend
