// The only file that includes oneDNN. Written for the APIs of both 2.x (op descriptors) and 3.x; what differs is in
// describe() alone. The tests of engine and layers, those of equal bits among them, pass with 2.6.3 (Debian 12) and
// with 3.2.0 (PyPI's onednn-cpu-gomp 2023.2.0 and its headers, onednn-devel-cpu-gomp). It compiles with the headers of
// 3.13.2 (PyPI's onednn-devel 2026.1.0: SYCL and TBB) and of 3.13.3 (those in PyTorch 2.15: OpenMP).
//
// Each primitive is made for one thread and run by the thread that calls: the threads of a ThreadTeam share the work
// out among primitives instead of inside them. So there is no OpenMP region to wait for, and no run-time spins while
// another process holds a CPU.
#include "encdec/engine/backend/onednn.h"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <map>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "encdec/engine/error.h"
#include "encdec/engine/kernels/panel_matmul.h"
#include "encdec/engine/tensor.h"

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

// While one lives, oneDNN sees one thread; the caller's own setting comes back afterwards.
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

// Keeps our own kernels to the instructions that oneDNN may use, which ONEDNN_MAX_CPU_ISA can limit: then a CPU does
// what a lesser one would.
void follow_instruction_limit() {
#if HWY_ARCH_X86
  using Bits = std::underlying_type_t<dnnl::cpu_isa>;  // each set contains the bits of the lesser ones
  const auto allowed = static_cast<Bits>(dnnl::get_effective_cpu_isa());
  const auto allows = [&](dnnl::cpu_isa isa) { return (allowed & static_cast<Bits>(isa)) == static_cast<Bits>(isa); };
  if (allowed == static_cast<Bits>(dnnl::cpu_isa::all)) return;
  // Highway numbers a better set lower. It has none for AVX alone.
  if (!allows(dnnl::cpu_isa::avx2)) {
    hwy::DisableTargets(HWY_SSE4 - 1);
  } else if (!allows(dnnl::cpu_isa::avx512_core)) {
    hwy::DisableTargets(HWY_AVX2 - 1);
  }
#endif
}

const dnnl::engine& cpu() {
  static const dnnl::engine engine = [] {
    follow_instruction_limit();
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

template <class Action>
auto translate_errors(const MatMulSpec& spec, const Action& action) {
  try {
    return action();
  } catch (const dnnl::error& error) {
    throw BackendError(fmt::format("oneDNN {}: matmul [M, {}] x [{}, {}]: {}", onednn_version(), spec.input_width,
                                   spec.input_width, spec.output_width, error.what()));
  }
}

memory::desc plain(const memory::dims& dims) {
  const auto tag = dims.size() == 1 ? memory::format_tag::a : memory::format_tag::ab;
  return {dims, memory::data_type::f32, tag};
}

memory::desc weights_in(const MatMulSpec& spec, memory::format_tag order) {
  return {{spec.input_width, spec.output_width}, memory::data_type::f32, order};
}

struct EltwiseParameters {
  dnnl::algorithm algorithm;
  float alpha;
};

EltwiseParameters eltwise(Activation activation) {
  switch (activation) {
    case Activation::identity: return {dnnl::algorithm::eltwise_linear, 1.0f};
    case Activation::relu: return {dnnl::algorithm::eltwise_relu, 0.0f};
    case Activation::gelu: return {dnnl::algorithm::eltwise_gelu_erf, 0.0f};
    case Activation::gelu_tanh: return {dnnl::algorithm::eltwise_gelu_tanh, 0.0f};
    case Activation::gelu_sigmoid: return {dnnl::algorithm::eltwise_swish, 1.702f};
    case Activation::silu: return {dnnl::algorithm::eltwise_swish, 1.0f};
    case Activation::tanh: return {dnnl::algorithm::eltwise_tanh, 0.0f};
    case Activation::sigmoid: return {dnnl::algorithm::eltwise_logistic, 0.0f};
  }
  return {dnnl::algorithm::eltwise_linear, 1.0f};
}

// How oneDNN would run a spec for so many rows. The scratchpad is the caller's: oneDNN's own belongs to the thread that
// created the primitive.
dnnl::matmul::primitive_desc describe(const MatMulSpec& spec, int rows, const memory::desc& weights) {
  const memory::desc source = plain({rows, spec.input_width});
  const memory::desc destination = plain({rows, spec.output_width});
  const memory::desc bias = plain({1, spec.output_width});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post_ops;
  if (spec.activation != Activation::identity) {
    const EltwiseParameters parameters = eltwise(spec.activation);
#if DNNL_VERSION_MAJOR >= 3
    post_ops.append_eltwise(parameters.algorithm, parameters.alpha, 0.0f);
#else
    post_ops.append_eltwise(1.0f, parameters.algorithm, parameters.alpha, 0.0f);
#endif
  }
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

// What multiplies by a matrix.
enum class Carrier {
  onednn,             // its packed AVX-512 matmul
  onednn_or_one_row,  // the same, and kernels::multiply_panels for one row, where that gives the same bits
  panels              // kernels::multiply_panels for any number of rows
};

// In what chunks our own matmul sums: 32 KiB of a panel stay in the nearest caches while one tile after the other uses
// them, and few enough sums are interrupted.
constexpr int kChunk = 512;

}  // namespace

struct PackedMatrix::Impl {
  MatMulSpec spec;
  Tensor weight_storage;
  Tensor bias_storage;
  memory weights;
  memory bias;
  Carrier carrier = Carrier::onednn;
  kernels::PanelMatrix panels;
};

namespace {
int chunk_for(const PackedMatrix& matrix, const kernels::PanelMatrix& panels);
}  // namespace

PackedMatrix::PackedMatrix(const MatMulSpec& spec, const float* weight, const float* bias)
    : impl_(std::make_unique<Impl>()) {
  impl_->spec = spec;
  translate_errors(spec, [&] {
    const SingleThreaded guard;
    // On AVX-512 the layout that oneDNN wants is the same for all numbers of rows; asked for a typical one.
    constexpr int kTypicalRows = 16;
    const auto description = describe(spec, kTypicalRows, weights_in(spec, memory::format_tag::any));
    const bool keeps_bits = std::string_view(description.impl_info_str()).starts_with("brg:avx512");
    const memory::desc wide = weights_in(spec, memory::format_tag::BA16a64b);
    const memory::desc packed =
        keeps_bits ? description.weights_desc() : weights_in(spec, memory::format_tag::BA16a16b);
    impl_->weight_storage = Tensor::uninitialized({static_cast<Dim>(packed.get_size())}, DataType::uint8);
    impl_->weights = memory(packed, cpu(), impl_->weight_storage.raw());
    memory source(weights_in(spec, memory::format_tag::ba), cpu(), const_cast<float*>(weight));
    dnnl::stream stream(cpu());
    dnnl::reorder(source, impl_->weights).execute(stream, source, impl_->weights);
    stream.wait();
    if (spec.bias) {
      impl_->bias_storage = Tensor::uninitialized({spec.output_width});
      std::copy_n(bias, spec.output_width, impl_->bias_storage.data<float>());
      impl_->bias = memory(plain({1, spec.output_width}), cpu(), impl_->bias_storage.raw());
    }
    impl_->panels = {.panels = reinterpret_cast<const float*>(impl_->weight_storage.raw()),
                     .bias = spec.bias ? impl_->bias_storage.data<float>() : nullptr,
                     .input_width = spec.input_width,
                     .output_width = spec.output_width,
                     .chunk = kChunk,
                     .columns = keeps_bits ? kernels::PanelColumns::wide : kernels::PanelColumns::narrow,
                     .activation = spec.activation};
    if (!keeps_bits) {
      impl_->carrier = Carrier::panels;
    } else if (packed == wide && spec.activation == Activation::identity) {
      impl_->carrier = Carrier::onednn_or_one_row;
    }
  });
  if (impl_->carrier == Carrier::onednn_or_one_row) {
    impl_->panels.chunk = chunk_for(*this, impl_->panels);
    if (impl_->panels.chunk == 0) impl_->carrier = Carrier::onednn;
  }
}

namespace {

// In what chunks multiply_panels must sum to give the bits of oneDNN's matmul for one row of this matrix, found by
// trying; 0 if in none. So one row alone equals the same row among others, whatever a version of oneDNN does.
int find_chunk(const PackedMatrix& matrix, kernels::PanelMatrix panels) {
  // Products must need rounding: otherwise every order of sums gives the same bits.
  std::vector<float> input(static_cast<std::size_t>(panels.input_width));
  std::uint32_t state = 1;
  for (float& x : input) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(state >> 8) / 0x1p24f - 0.5f;
  }
  const auto count = static_cast<std::size_t>(panels.output_width);
  std::vector<float> expected(count), found(count);
  const std::vector<float> zeros(count, 0.0f);
  MatMulContext context;
  context.run_primitive(matrix,
                        {.count = 1, .input = input.data(), .residual = zeros.data(), .output = expected.data()});
  int chunk = 0;
  for (const int candidate : {512, 1024, std::max(panels.input_width, 1025)}) {
    panels.chunk = candidate;
    kernels::multiply_panels(panels,
                             {.count = 1, .input = input.data(), .residual = zeros.data(), .output = found.data()});
    if (std::memcmp(found.data(), expected.data(), count * sizeof(float)) != 0) continue;
    // Weights that cannot tell two orders apart do not show which is right.
    if (chunk != 0 && std::min(candidate, panels.input_width) > chunk) return 0;
    chunk = candidate;
  }
  return chunk;
}

// The same, remembered: what oneDNN does depends on the sizes, not on the weights.
int chunk_for(const PackedMatrix& matrix, const kernels::PanelMatrix& panels) {
  static std::mutex mutex;
  static std::map<MatMulSpec, int> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(matrix.spec()); found != known.end()) return found->second;
  const int chunk = find_chunk(matrix, panels);
  if (chunk != 0) known.emplace(matrix.spec(), chunk);
  return chunk;
}

}  // namespace

PackedMatrix::~PackedMatrix() = default;
PackedMatrix::PackedMatrix(PackedMatrix&&) noexcept = default;
PackedMatrix& PackedMatrix::operator=(PackedMatrix&&) noexcept = default;

const MatMulSpec& PackedMatrix::spec() const {
  return impl_->spec;
}

bool PackedMatrix::is_ours() const {
  return impl_->carrier == Carrier::panels;
}

std::size_t PackedMatrix::bytes() const {
  return impl_->weight_storage.bytes();
}

struct MatMulContext::Impl {
  struct Key {
    MatMulSpec spec;
    int rows = 0;
    friend bool operator==(const Key& a, const Key& b) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::size_t hash = static_cast<std::size_t>(key.spec.input_width);
      hash = hash * 1000003 + static_cast<std::size_t>(key.spec.output_width);
      hash = hash * 1000003 + static_cast<std::size_t>(key.rows);
      return hash * 31 + static_cast<std::size_t>(key.spec.activation) * 4 + (key.spec.bias ? 2 : 0) +
             (key.spec.residual ? 1 : 0);
    }
  };
  // A primitive with the memory objects of its arguments; only their addresses change from call to call.
  struct Call {
    dnnl::matmul primitive;
    std::string implementation;
    memory source;
    memory destination;
    memory residual;
    memory scratchpad;
    std::size_t scratchpad_bytes = 0;
    std::uint64_t last_use = 0;
  };

  dnnl::stream stream{cpu()};
  std::unordered_map<Key, Call, KeyHash> calls;
  Tensor scratchpad;
  std::uint64_t clock = 0;

  Call& find(const PackedMatrix& matrix, int rows);
};

MatMulContext::Impl::Call& MatMulContext::Impl::find(const PackedMatrix& matrix, int rows) {
  const MatMulSpec& spec = matrix.spec();
  const Key key{spec, rows};
  auto found = calls.find(key);
  if (found == calls.end()) {
    if (calls.size() >= kMaxPrimitives) {
      calls.erase(std::ranges::min_element(calls, {}, [](const auto& entry) { return entry.second.last_use; }));
    }
    const auto description = describe(spec, rows, matrix.impl_->weights.get_desc());
    Call call;
    call.primitive = dnnl::matmul(description);
    call.implementation = description.impl_info_str();
    call.source = memory(description.src_desc(), cpu(), nullptr);
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

MatMulContext::MatMulContext() : impl_(std::make_unique<Impl>()) {}
MatMulContext::~MatMulContext() = default;
MatMulContext::MatMulContext(MatMulContext&&) noexcept = default;
MatMulContext& MatMulContext::operator=(MatMulContext&&) noexcept = default;

void MatMulContext::run(const PackedMatrix& matrix, const MatMulRows& rows) {
  const Carrier carrier = matrix.impl_->carrier;
  if (carrier == Carrier::panels || (carrier == Carrier::onednn_or_one_row && rows.count == 1)) {
    const std::ptrdiff_t stride = rows.stride != 0 ? rows.stride : matrix.spec().output_width;
    kernels::multiply_panels(
        matrix.impl_->panels,
        {.count = rows.count, .input = rows.input, .residual = rows.residual, .output = rows.output, .stride = stride});
  } else {
    run_primitive(matrix, rows);
  }
}

void MatMulContext::run_primitive(const PackedMatrix& matrix, const MatMulRows& rows) {
  assert(rows.stride == 0 || rows.stride == matrix.spec().output_width);
  const SingleThreaded guard;
  translate_errors(matrix.spec(), [&] {
    Impl::Call& call = impl_->find(matrix, rows.count);
    // The C interface: the C++ one builds a hash map for every call.
    std::array<dnnl_exec_arg_t, 6> arguments;
    int count = 0;
    const auto add = [&](int name, const memory& argument) {
      arguments[static_cast<std::size_t>(count++)] = {name, argument.get()};
    };
    call.source.set_data_handle(const_cast<float*>(rows.input));
    add(DNNL_ARG_SRC, call.source);
    add(DNNL_ARG_WEIGHTS, matrix.impl_->weights);
    call.destination.set_data_handle(rows.output);
    add(DNNL_ARG_DST, call.destination);
    if (matrix.spec().bias) add(DNNL_ARG_BIAS, matrix.impl_->bias);
    if (matrix.spec().residual) {
      call.residual.set_data_handle(const_cast<float*>(rows.residual));
      const int position = matrix.spec().activation != Activation::identity ? 1 : 0;
      add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1, call.residual);
    }
    if (call.scratchpad_bytes > 0) {
      call.scratchpad.set_data_handle(impl_->scratchpad.raw());
      add(DNNL_ARG_SCRATCHPAD, call.scratchpad);
    }
    dnnl::error::wrap_c_api(dnnl_primitive_execute(call.primitive.get(), impl_->stream.get(), count, arguments.data()),
                            "could not run the matmul");
  });
}

std::string MatMulContext::implementation(const PackedMatrix& matrix, int rows) {
  if (matrix.impl_->carrier == Carrier::panels) return "encdec:" + kernels::vector_target();
  const SingleThreaded guard;
  return translate_errors(matrix.spec(), [&] { return impl_->find(matrix, rows).implementation; });
}

std::size_t MatMulContext::primitives() const {
  return impl_->calls.size();
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace encdec::backend
