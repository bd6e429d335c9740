#include "encdec/layers/transformer/key_value_storage.h"

#include <vector>

namespace encdec {

kernels::HeadAttention KeyValueStorage::attention(const Tensor& key_values, const Sequence& sequence) const {
  KeyValueLayout form = rows;
  form.type = key_values.type();
  const std::byte* first = key_values.raw() + static_cast<std::size_t>(sequence.first_source_row) * form.bytes();
  const bool reads_packed = is_packed && form.type == DataType::bfloat16;
  const kernels::AttentionRows keys{.data = first,
                                    .stride = form.head_dim,
                                    .head_stride = form.head_dim * sequence.source_rows,
                                    .form = reads_packed ? kernels::RowForm::packed : kernels::row_form(form.type)};
  kernels::AttentionRows values = keys;
  values.data = first + static_cast<std::size_t>(sequence.source_rows) * form.bytes() / 2;
  return {.keys = keys, .values = values, .query_count = sequence.rows, .key_count = sequence.source_rows};
}

std::span<const Sequence> sequences_with_sources(RunState& state) {
  std::vector<Sequence>& readers = state.sequence_scratch();
  readers.clear();
  for (const Sequence& sequence : state.sequences) {
    Sequence* last = readers.empty() ? nullptr : &readers.back();
    // Merge sequences of the same source only if their rows are adjacent, too.
    if (last != nullptr && last->first_source_row == sequence.first_source_row &&
        last->source_rows == sequence.source_rows && last->first_row + last->rows == sequence.first_row) {
      last->rows += sequence.rows;
    } else {
      readers.push_back(sequence);
    }
  }
  return readers;
}

}  // namespace encdec
