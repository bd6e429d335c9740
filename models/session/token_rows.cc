#include "encdec/models/session/token_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "encdec/engine/base/error.h"

namespace encdec {

void check_tokens(std::span<const std::int32_t> tokens, const StackConfig& stack, std::string_view what,
                  std::size_t number) {
  const auto positions = stack.position_limit();
  if (positions && tokens.size() > static_cast<std::size_t>(*positions)) {
    throw InputError(fmt::format("{} {}: {} tokens, expected at most {}: the model has no more positions", what, number,
                                 tokens.size(), *positions));
  }
  for (const std::int32_t id : tokens) {
    if (id < 0 || id >= stack.input_tokens()) {
      throw InputError(fmt::format("{} {}: token id {}, expected 0 to {}", what, number, id, stack.input_tokens() - 1));
    }
  }
}

void check_rows(std::span<const TokenIds> rows, const StackConfig& stack, std::string_view what) {
  for (std::size_t i = 0; i < rows.size(); ++i) check_tokens(rows[i], stack, what, i + 1);
}

void check_frames(const Tensor& frames, const StackConfig& stack, std::string_view what, std::size_t number) {
  const FrameOptions& options = stack.frames;
  const auto most = stack.position_limit();
  const bool is_matrix = frames.type() == DataType::float32 && frames.shape().rank() == 2 && !frames.empty() &&
                         frames.width() == options.width;
  const Dim rows = is_matrix ? options.rows_of(frames.rows()) : 0;
  if (rows > 0 && rows <= most.value_or(rows)) return;
  throw InputError(fmt::format("{} {}: frames {} {}, expected float32 {}", what, number, to_string(frames.type()),
                               to_string(frames.shape()), options.expected_shape(most.value_or(0))));
}

void check_end(std::span<const std::int32_t> tokens, const HeadConfig& head, std::string_view what,
               std::size_t number) {
  if (head.pooling != HeadPooling::last_end || std::ranges::find(tokens, head.end_token) != tokens.end()) return;
  throw InputError(
      fmt::format("{} {}: no end token {}, expected one: the classifier reads its row", what, number, head.end_token));
}

void check_not_empty(std::span<const std::int32_t> tokens, std::string_view what, std::size_t number) {
  if (tokens.empty()) throw InputError(fmt::format("{} {}: no tokens, expected at least one", what, number));
}

void check_not_empty(std::span<const TokenIds> rows, std::string_view what) {
  for (std::size_t i = 0; i < rows.size(); ++i) check_not_empty(rows[i], what, i + 1);
}

std::vector<std::vector<std::size_t>> batches_by_length(std::span<const TokenIds> rows, int batch_size) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].empty()) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return rows[i].size(); });
  std::vector<std::vector<std::size_t>> batches;
  std::size_t tokens = 0;  // number of tokens in the last batch
  for (const std::size_t row : order) {
    tokens += rows[row].size();
    const bool is_full = batch_size == 0
                             ? tokens > kTokensPerBatch
                             : !batches.empty() && batches.back().size() == static_cast<std::size_t>(batch_size);
    if (batches.empty() || is_full) {
      batches.emplace_back();
      tokens = rows[row].size();
    }
    batches.back().push_back(row);
  }
  return batches;
}

}  // namespace encdec
