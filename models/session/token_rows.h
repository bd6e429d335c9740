#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/network/config.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// The check functions throw InputError. Messages begin with `what` and `number`: "source 3: ...".
//
// Throws unless all ids are in the stack's vocabulary and each token has a position.
void check_tokens(std::span<const std::int32_t> tokens, const StackConfig& stack, std::string_view what,
                  std::size_t number);
// Calls check_tokens() for each row, numbered from 1.
void check_rows(std::span<const TokenIds> rows, const StackConfig& stack, std::string_view what);
// Throws unless `frames` is float32 [F, width], where F is a positive multiple of per_row and at
// most per_row times the number of positions (see FrameOptions).
void check_frames(const Tensor& frames, const StackConfig& stack, std::string_view what, std::size_t number);
// Throws if `head` reads the row of an end token and `tokens` have no end token.
void check_end(std::span<const std::int32_t> tokens, const HeadConfig& head, std::string_view what, std::size_t number);
void check_not_empty(std::span<const std::int32_t> tokens, std::string_view what, std::size_t number);
void check_not_empty(std::span<const TokenIds> rows, std::string_view what);

// Number of tokens that keep a CPU busy if they are processed together.
inline constexpr std::size_t kTokensPerBatch = 2048;

// Groups rows into batches of indices, longest first; empty rows are left out. A batch has at most
// `batch_size` rows or, if that is 0, kTokensPerBatch tokens; a longer row gets its own batch.
// Results do not depend on the batches.
std::vector<std::vector<std::size_t>> batches_by_length(std::span<const TokenIds> rows, int batch_size);

}  // namespace encdec
