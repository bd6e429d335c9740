#include "encdec/engine/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "encdec/engine/backend/packed_matrix.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/engine/run_state.h"
#include "encdec/engine/thread_team.h"

namespace encdec {
namespace {

// Width of the widest panels. Slices begin at multiples of this width, so only the last panel may have unused columns.
constexpr Dim kPanelColumns = kernels::kWideColumns;
// Minimum number of multiplications that several threads share. Less work ends before another thread could start.
constexpr std::int64_t kWorkWorthSharing = 65'536;

Dim panels_of(Dim outputs) {
  return (outputs + kPanelColumns - 1) / kPanelColumns;
}

// Returns the number of slices of the outputs, so that `threads` threads can share the work of one row.
Dim slices_for(Dim threads, Dim inputs, Dim outputs) {
  return inputs * outputs >= kWorkWorthSharing ? std::clamp<Dim>(threads, 1, panels_of(outputs)) : 1;
}

// Splits `outputs` into `parts` nearly equal parts of whole panels, and returns the first output of part `part`.
// Returns `outputs` for part == parts.
Dim begin_of(Dim part, Dim parts, Dim outputs) {
  return std::min(part * panels_of(outputs) / parts * kPanelColumns, outputs);
}

}  // namespace

// Outputs [first, end()). They are packed separately, so that each thread can compute one slice.
struct MatMul::Slice {
  Dim first = 0;
  backend::PackedMatrix matrix;

  Dim end() const { return first + matrix.spec().output_width; }
};

namespace {

// Reads rows [first, first + count) of several matrices as if they were stacked into one.
class StackedRows {
 public:
  StackedRows(std::span<const WeightMatrix> matrices, Dim first, Dim count) : matrices_(matrices), left_(count) {
    for (; first >= matrices_.front().outputs(); matrices_ = matrices_.subspan(1)) first -= matrices_.front().outputs();
    take(first);
  }

  void read(Dim count, float* rows, float* factors) {
    while (count > 0) {
      if (next_ == part_->outputs()) take(0);
      const Dim part = std::min(count, part_->outputs() - next_);
      part_->copy_rows(next_, part, rows);
      for (Dim row = 0; row < part; ++row) *factors++ = part_->integer_factor(next_ + row);
      rows += part * part_->inputs();
      count -= part;
      next_ += part;
    }
  }

 private:
  // Sets part_ to the wanted rows of the next matrix, which begin at `first`.
  void take(Dim first) {
    const Dim wanted = std::min(left_, matrices_.front().outputs() - first);
    part_ = matrices_.front().part(first, wanted);
    matrices_ = matrices_.subspan(1);
    left_ -= wanted;
    next_ = 0;
  }

  std::span<const WeightMatrix> matrices_;  // the matrices after the matrix of `part_`
  Dim left_;                                // number of wanted rows after `part_`
  std::optional<WeightMatrix> part_;        // the wanted rows of one matrix
  Dim next_ = 0;                            // next row of `part_`
};

// Returns the name under which PackedWeights stores outputs [first, last) of the stacked matrices. Returns "" if one of
// the matrices has no name.
std::string name_of(std::span<const WeightMatrix> matrices, Dim first, Dim last, const backend::Backend& backend) {
  std::string names;
  for (const WeightMatrix& matrix : matrices) {
    if (matrix.name().empty()) return "";
    names += names.empty() ? "" : " + ";
    names += matrix.name();
  }
  return fmt::format("{}: {}-{} in {}", names, first, last, to_string(backend.stored));
}

// Splits the outputs into parts, and calls body(begin, end) for each part on the threads of pack.team.
template <class Body>
void for_parts(Dim outputs, const PackOptions& pack, const Body& body) {
  std::shared_ptr<ThreadTeam> team = pack.team.lock();
  if (team == nullptr) team = std::make_shared<ThreadTeam>();
  const Dim parts = std::min<Dim>(panels_of(outputs), team->size());
  team->run(static_cast<int>(parts), [&](int part, int /*thread*/) {
    body(begin_of(part, parts, outputs), begin_of(part + 1, parts, outputs));
  });
}

// Returns true if `type` (float16 or bfloat16) can hold all weights exactly.
bool have_values_of(DataType type, std::span<const WeightMatrix> matrices, Dim outputs, const PackOptions& pack) {
  if (std::ranges::all_of(matrices, [&](const WeightMatrix& matrix) { return matrix.is_stored_as(type); })) return true;
  std::atomic<bool> have = true;
  for_parts(outputs, pack, [&](Dim first, Dim end) {
    StackedRows rows(matrices, first, end - first);
    const auto width = static_cast<int>(matrices.front().inputs());
    std::vector<float> row(static_cast<std::size_t>(width));
    for (float factor = 0; first < end && have; ++first) {
      rows.read(1, row.data(), &factor);
      have = have && (type == DataType::float16 ? kernels::are_exact_in_float16 : kernels::are_exact_in_bfloat16)(
                         row.data(), width);
    }
  });
  return have;
}

// Returns the backend for these weights. If they are already packed, returns the backend for which they are packed,
// without reading them. Otherwise prefers 16-bit storage, which is smaller, if it holds the weights exactly.
const backend::Backend& choose_backend(std::span<const WeightMatrix> matrices, Dim outputs, Dim first_slice_end,
                                       const PackOptions& pack) {
  const backend::Backend& whole = backend::backend_for(pack.backend, pack.precision);
  const auto is_packed = [&](const backend::Backend& backend) {
    return pack.packed != nullptr && pack.packed->contains(name_of(matrices, 0, first_slice_end, backend));
  };
  const auto smaller = backend::smaller_backends(pack.backend, pack.precision);
  for (const backend::Backend* backend : smaller) {
    if (is_packed(*backend)) return *backend;
  }
  if (is_packed(whole)) return whole;
  for (const backend::Backend* backend : smaller) {
    if (have_values_of(backend->stored, matrices, outputs, pack)) return *backend;
  }
  return whole;
}

// Returns the packed weights of spec.output_width outputs, starting at output `first` of the stacked matrices. If
// pack.packed does not have them yet, packs them and stores them there.
Tensor packed_slice(std::span<const WeightMatrix> matrices, Dim first, const backend::MatMulSpec& spec,
                    const PackOptions& pack) {
  PackedWeights* packed = pack.packed.get();
  const std::string name = packed == nullptr ? "" : name_of(matrices, first, first + spec.output_width, *spec.backend);
  if (!name.empty()) {
    Tensor found = packed->find(name, backend::PackedMatrix::packed_bytes(spec));
    if (!found.empty()) return found;
  }
  Tensor made = backend::PackedMatrix::reserve(spec, pack.memory.get());
  for_parts(spec.output_width, pack, [&](Dim begin, Dim end) {
    StackedRows rows(matrices, first + begin, end - begin);
    backend::PackedMatrix::pack(
        spec, begin, end, [&](Dim, Dim count, float* to, float* factors) { rows.read(count, to, factors); }, made);
  });
  if (!name.empty()) packed->keep(name, made);
  return made;
}

}  // namespace

MatMul::MatMul(std::span<const WeightMatrix> weights, std::span<const Tensor> biases, const MatMulOptions& options)
    : residual_(options.residual) {
  if (weights.empty()) throw ShapeError("matmul without weights");
  if (!biases.empty() && biases.size() != weights.size()) {
    throw ShapeError(fmt::format("matmul of {} weights with {} biases", weights.size(), biases.size()));
  }
  // Check that the sizes fit, and add up the outputs.
  input_width_ = weights[0].inputs();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Dim outputs = weights[i].outputs();
    if (weights[i].inputs() != input_width_) {
      throw ShapeError(fmt::format("matmul weight {} has shape [{}, {}], expected [N, {}]", i, outputs,
                                   weights[i].inputs(), input_width_));
    }
    if (!biases.empty() && !biases[i].empty() && biases[i].shape() != Shape{outputs}) {
      throw ShapeError(
          fmt::format("matmul bias {} has shape {}, expected [{}]", i, to_string(biases[i].shape()), outputs));
    }
    output_width_ += outputs;
  }

  // Concatenate the biases, with zeros for a missing bias.
  std::vector<float> bias(biases.empty() ? 0 : static_cast<std::size_t>(output_width_), 0.0f);
  Dim column = 0;
  for (std::size_t i = 0; i < biases.size(); ++i) {
    if (!biases[i].empty()) copy_as_float(biases[i], 0, biases[i].elements(), bias.data() + column);
    column += weights[i].outputs();
  }

  const PackOptions& pack = options.pack;
  // Pack each slice separately. All slices use the same backend.
  const Dim slices = slices_for(pack.threads, input_width_, output_width_);
  const backend::Backend& backend = choose_backend(weights, output_width_, begin_of(1, slices, output_width_), pack);
  for (Dim slice = 0; slice < slices; ++slice) {
    const Dim first = begin_of(slice, slices, output_width_), last = begin_of(slice + 1, slices, output_width_);
    const backend::MatMulSpec spec{.input_width = static_cast<int>(input_width_),
                                   .output_width = static_cast<int>(last - first),
                                   .backend = &backend,
                                   .activation = options.activation};
    slices_.push_back({first, backend::PackedMatrix(spec, packed_slice(weights, first, spec, pack),
                                                    biases.empty() ? nullptr : bias.data() + first)});
  }
}

MatMul::~MatMul() = default;
MatMul::MatMul(MatMul&&) noexcept = default;
MatMul& MatMul::operator=(MatMul&&) noexcept = default;

std::size_t MatMul::bytes() const {
  std::size_t total = 0;
  for (const Slice& slice : slices_) total += slice.matrix.bytes();
  return total;
}

const MatMul::Slice& MatMul::slice_of(Dim output) const {
  const auto slice = std::ranges::find_if(slices_, [&](const Slice& s) { return output < s.end(); });
  assert(output >= 0 && slice != slices_.end());
  return *slice;
}

void MatMul::copy_weights(Dim output, float* weights) const {
  const Slice& slice = slice_of(output);
  slice.matrix.copy_row(static_cast<int>(output - slice.first), weights);
}

MatMul MatMul::with_outputs(std::span<const std::int32_t> outputs) const {
  MatMul some;
  some.input_width_ = input_width_;
  some.output_width_ = std::ssize(outputs);
  some.residual_ = residual_;
  // Locate the outputs in the slices, then copy them to new slices.
  std::vector<backend::PackedMatrix::Output> columns;
  for (const std::int32_t output : outputs) {
    const Slice& slice = slice_of(output);
    columns.push_back({&slice.matrix, static_cast<int>(output - slice.first)});
  }
  backend::MatMulSpec spec = slices_.front().matrix.spec();
  const Dim slices = slices_for(static_cast<Dim>(slices_.size()), input_width_, some.output_width_);
  for (Dim slice = 0; slice < slices; ++slice) {
    const Dim first = begin_of(slice, slices, some.output_width_),
              last = begin_of(slice + 1, slices, some.output_width_);
    spec.output_width = static_cast<int>(last - first);
    some.slices_.push_back(
        {first, backend::PackedMatrix(spec, std::span(columns).subspan(static_cast<std::size_t>(first),
                                                                       static_cast<std::size_t>(last - first)))});
  }
  return some;
}

// Converts all rows to the backend's InputForm, and pads them with zeros.
kernels::MatMulRows MatMul::convert(const Tensor& input, RunState& state) const {
  const backend::PackedMatrix& matrix = slices_.front().matrix;
  const kernels::InputForm form = matrix.spec().backend->input;
  const auto rows = static_cast<int>(input.rows());
  const std::size_t row_bytes = matrix.input_row_bytes();
  if (form == kernels::InputForm::float32) return {.count = rows, .input = input.raw(), .input_bytes = row_bytes};
  const std::size_t used = static_cast<std::size_t>(input_width_) * kernels::element_bytes(form);
  Tensor values = state.scratch({static_cast<Dim>((static_cast<std::size_t>(rows) * row_bytes + 3) / 4)});
  Tensor scales = state.scratch({rows});
  std::byte* to = values.raw();
  for_each_row(input, state.team(), [&](int row) {
    std::byte* converted = to + static_cast<std::size_t>(row) * row_bytes;
    scales.data<float>()[row] = kernels::convert_row(form, input.row(row), static_cast<int>(input_width_), converted);
    std::fill(converted + used, converted + row_bytes, std::byte{0});
  });
  return {.count = rows, .input = to, .input_bytes = row_bytes, .output = {.row_scales = scales.data<float>()}};
}

void MatMul::forward(const Tensor& input, const Tensor* residual, Tensor& output, RunState& state) const {
  assert((residual != nullptr) == (residual_ == Residual::add));
  assert(input.width() == input_width_ && output.width() == output_width_ && input.rows() == output.rows());
  kernels::MatMulRows all = convert(input, state);
  all.output.residual = residual != nullptr ? residual->data<float>() : nullptr;
  all.output.output = output.data<float>();
  all.output.stride = output_width_;
  const backend::PackedMatrix& front = slices_.front().matrix;
  const int slices = static_cast<int>(slices_.size());
  // Split the rows into blocks. Run blocks of equal size together, because each team.run() has a cost.
  for (int first_row = 0; first_row < all.count;) {
    const int block = front.spec().backend->block_rows(front, all.count - first_row, output_width_);
    const int blocks = (all.count - first_row) / block;
    // An item is the product of one block of rows and one slice.
    const auto body = [&](int item, int thread) {
      const Slice& slice = slices_[static_cast<std::size_t>(item % slices)];
      kernels::MatMulRows part = all.part(first_row + item / slices * block, block);
      part.output.output += slice.first;
      if (part.output.residual != nullptr) part.output.residual += slice.first;
      slice.matrix.multiply(part, state.matmul_primitives(thread));
    };
    if (block * input_width_ * output_width_ < kWorkWorthSharing) {
      for (int item = 0; item < blocks * slices; ++item) body(item, 0);
    } else {
      state.team().run(blocks * slices, body);
    }
    first_row += blocks * block;
  }
}

}  // namespace encdec
