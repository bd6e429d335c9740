// The only file that includes oneDNN; what differs between the APIs of 2.x and 3.x is in describe() alone.
// Each primitive is made for one thread and run by the thread that calls: the threads of a ThreadTeam share the work
// out among primitives instead of inside them. So there is no OpenMP region to wait for, and no run-time spins while
// another process holds a CPU.
#include "encdec/engine/backend/onednn.h"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "encdec/engine/base/address_space.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/kernels/matmul_kernels.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
// Declared here: <omp.h> would need compiler flags that link a second OpenMP runtime under clang.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int count);
}
#endif

namespace encdec::backend {
namespace {

using dnnl::memory;

// What the making of a primitive takes at most, many times over: code of four kernels, 256 KiB each, and what describes
// them; perhaps glibc's heap of a thread, 128 MiB while it is aligned, without which it does with the heap of all.
constexpr std::size_t kPrimitiveRoom = std::size_t{16} << 20;

// There must be memory before oneDNN makes something. Where there is none, its code generator writes to pages that it
// did not get, and its other makers use objects that they did not get: SIGSEGV ends the program, and no error comes
// back that could be handled. So things are made one at a time, each with room that was there just before, while
// nobody else takes much. Throws std::bad_alloc.
class PrimitiveRoom {
 public:
  PrimitiveRoom() : lock_(address_space()) {
    void* room = ::mmap(nullptr, kPrimitiveRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) throw std::bad_alloc();
    ::munmap(room, kPrimitiveRoom);
  }

 private:
  std::lock_guard<std::mutex> lock_;
};

// While one lives, oneDNN sees one thread; the caller's own setting comes back afterwards.
class SingleThreaded {
 public:
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  SingleThreaded() : saved_(omp_get_max_threads()) {
    if (saved_ != 1) set_one();
  }
  ~SingleThreaded() {
    if (saved_ != 1) omp_set_num_threads(saved_);
  }

 private:
  // Of a thread the first call allocates, and ends the program where it cannot.
  static void set_one() {
    thread_local bool has_settings = false;
    std::optional<PrimitiveRoom> room;
    if (!has_settings) room.emplace();
    omp_set_num_threads(1);
    has_settings = true;
  }

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
// Whether oneDNN may use all of an instruction set. Each set contains the bits of the lesser ones.
bool allows(dnnl::cpu_isa isa) {
  using Bits = std::underlying_type_t<dnnl::cpu_isa>;
  return (static_cast<Bits>(dnnl::get_effective_cpu_isa()) & static_cast<Bits>(isa)) == static_cast<Bits>(isa);
}
#endif

// What ENCDEC_MAX_ISA says, for oneDNN; it must not have been used by this process.
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
  throw ConfigError(fmt::format("ENCDEC_MAX_ISA is '{}', expected none on this kind of CPU", limit));
#endif
}

// Keeps our own kernels to the instructions that oneDNN may use: then a CPU does what a lesser one would.
void follow_instruction_limit() {
  limit_onednn();
#if HWY_ARCH_X86
  // Highway numbers a better set lower. It has none for AVX alone.
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

template <class Action>
auto translate_errors(const PrimitiveSpec& spec, const Action& action) {
  try {
    return action();
  } catch (const dnnl::error& error) {
    throw BackendError(fmt::format("oneDNN {}: matmul [M, {}] x [{}, {}]: {}", onednn_version(), spec.input_width,
                                   spec.input_width, spec.output_width, error.what()));
  }
}

// How oneDNN would run a spec for so many rows. The scratchpad is the caller's: oneDNN's own belongs to the thread that
// created the primitive.
dnnl::matmul::primitive_desc describe(const PrimitiveSpec& spec, int rows) {
  constexpr auto kType = memory::data_type::f32;
  const memory::desc source({rows, spec.input_width}, kType, memory::format_tag::ab);
  const memory::desc weights({spec.input_width, spec.output_width}, kType, memory::format_tag::BA16a64b);
  const memory::desc destination({rows, spec.output_width}, kType, memory::format_tag::ab);
  const memory::desc bias({1, spec.output_width}, kType, memory::format_tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post_ops;
#if DNNL_VERSION_MAJOR >= 3
  if (spec.relu) post_ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#else
  if (spec.relu) post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#endif
  if (spec.residual) post_ops.append_binary(dnnl::algorithm::binary_add, destination);
  attributes.set_post_ops(post_ops);
#if DNNL_VERSION_MAJOR >= 3
  if (spec.bias) return {cpu(), source, weights, bias, destination, attributes};
  return {cpu(), source, weights, destination, attributes};
#else
  const auto operation = spec.bias ? dnnl::matmul::desc(source, weights, bias, destination)
                                   : dnnl::matmul::desc(source, weights, destination);
  return {operation, attributes, cpu()};
#endif
}

dnnl::stream make_stream() {
  const PrimitiveRoom room;
  return dnnl::stream(cpu());
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
    found.amx = allows(dnnl::cpu_isa::avx512_core_amx) && kernels::has_tiles();
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
      return hash * 8 + (key.spec.bias ? 4 : 0) + (key.spec.relu ? 2 : 0) + (key.spec.residual ? 1 : 0);
    }
  };
  // A primitive with the memory objects of its arguments; only their addresses change from call to call.
  struct Call {
    dnnl::matmul primitive;
    std::string implementation;
    memory source, weights, bias, residual, destination, scratchpad;
    std::size_t scratchpad_bytes = 0;
    std::uint64_t last_use = 0;
  };

  dnnl::stream stream = make_stream();
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
    if (calls.size() >= kMaxPrimitives) {
      calls.erase(std::ranges::min_element(calls, {}, [](const auto& entry) { return entry.second.last_use; }));
    }
    const PrimitiveRoom room;
    const auto description = describe(spec, rows);
    Call call;
    call.primitive = dnnl::matmul(description);
    call.implementation = description.impl_info_str();
    call.source = memory(description.src_desc(), cpu(), nullptr);
    call.weights = memory(description.weights_desc(), cpu(), nullptr);
    if (spec.bias) call.bias = memory(description.query_md(dnnl::query::weights_md, 1), cpu(), nullptr);
    call.destination = memory(description.dst_desc(), cpu(), nullptr);
    if (spec.residual) call.residual = memory(description.dst_desc(), cpu(), nullptr);
    call.scratchpad_bytes = description.scratchpad_desc().get_size();
    if (call.scratchpad_bytes > 0) call.scratchpad = memory(description.scratchpad_desc(), cpu(), nullptr);
    found = calls.emplace(key, std::move(call)).first;
  }
  Call& call = found->second;
  call.last_use = ++clock;
  if (call.scratchpad_bytes > 0 && (scratchpad.empty() || scratchpad.bytes() < call.scratchpad_bytes)) {
    scratchpad = Tensor::uninitialized({static_cast<Dim>(call.scratchpad_bytes)}, DataType::uint8);
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
    // The C interface: the C++ one builds a hash map for every call.
    std::array<dnnl_exec_arg_t, 6> arguments;
    int count = 0;
    const auto add = [&](int name, memory& argument, const void* data) {
      argument.set_data_handle(const_cast<void*>(data));
      arguments[static_cast<std::size_t>(count++)] = {name, argument.get()};
    };
    add(DNNL_ARG_SRC, call.source, given.input);
    add(DNNL_ARG_WEIGHTS, call.weights, given.weights);
    add(DNNL_ARG_DST, call.destination, given.output);
    if (spec.bias) add(DNNL_ARG_BIAS, call.bias, given.bias);
    if (spec.residual) {
      add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(spec.relu ? 1 : 0) | DNNL_ARG_SRC_1, call.residual, given.residual);
    }
    if (call.scratchpad_bytes > 0) add(DNNL_ARG_SCRATCHPAD, call.scratchpad, impl_->scratchpad.raw());
    dnnl::error::wrap_c_api(dnnl_primitive_execute(call.primitive.get(), impl_->stream.get(), count, arguments.data()),
                            "could not run the matmul");
  });
}

std::byte* MatMulPrimitives::scratch(std::size_t bytes) {
  if (impl_->scratch.empty() || impl_->scratch.bytes() < bytes) {
    impl_->scratch = Tensor::uninitialized({static_cast<Dim>(bytes)}, DataType::uint8);
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

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace encdec::backend
