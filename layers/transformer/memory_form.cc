#include "encdec/layers/transformer/memory_form.h"

#include <vector>

namespace encdec {

kernels::HeadAttention MemoryForm::attention(const Tensor& memory, const Sequence& sequence) const {
  KeyValueForm form = rows;
  form.type = memory.type();
  const std::byte* first = memory.raw() + static_cast<std::size_t>(sequence.first_memory_row) * form.bytes();
  const bool reads_packed = is_packed && form.type == DataType::bfloat16;
  const kernels::AttentionRows keys{.data = first,
                                    .stride = form.head_dim,
                                    .head_stride = form.head_dim * sequence.memory_rows,
                                    .form = reads_packed ? kernels::RowForm::packed : kernels::row_form(form.type)};
  kernels::AttentionRows values = keys;
  values.data = first + static_cast<std::size_t>(sequence.memory_rows) * form.bytes() / 2;
  return {.keys = keys, .values = values, .query_count = sequence.rows, .key_count = sequence.memory_rows};
}

std::span<const Sequence> readers_of_memories(RunState& state) {
  std::vector<Sequence>& readers = state.sequence_scratch();
  readers.clear();
  for (const Sequence& sequence : state.sequences) {
    Sequence* last = readers.empty() ? nullptr : &readers.back();
    if (last != nullptr && last->first_memory_row == sequence.first_memory_row &&
        last->memory_rows == sequence.memory_rows && last->first_row + last->rows == sequence.first_row) {
      last->rows += sequence.rows;
    } else {
      readers.push_back(sequence);
    }
  }
  return readers;
}

}  // namespace encdec
