#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/network/config.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// Throws InputError unless all ids are in the stack's vocabulary and the stack has a position for each token. The
// message begins with `what` and `number`: "source 3: ...".
void check_tokens(std::span<const std::int32_t> tokens, const StackConfig& stack, std::string_view what,
                  std::size_t number);
// Checks each row as check_tokens() does; rows are numbered from 1. Call this before any work, so that a bad row is
// reported at once.
void check_rows(std::span<const TokenIds> rows, const StackConfig& stack, std::string_view what);
// Throws InputError unless `frames` is float32 [F, width], where F is a positive multiple of per_row and at most
// per_row times the number of positions (see FrameOptions). The message begins as that of check_tokens().
void check_frames(const Tensor& frames, const StackConfig& stack, std::string_view what, std::size_t number);
// Throws InputError if `head` reads the row of an end token and there is none. The message begins as that of
// check_tokens().
void check_end(std::span<const std::int32_t> tokens, const HeadConfig& head, std::string_view what, std::size_t number);
// Throws InputError if there are no tokens. The message begins as that of check_tokens().
void check_not_empty(std::span<const std::int32_t> tokens, std::string_view what, std::size_t number);
// Checks each row in the same way; rows are numbered from 1.
void check_not_empty(std::span<const TokenIds> rows, std::string_view what);

// Number of tokens that keep a CPU busy if they are read together.
inline constexpr std::size_t kTokensPerBatch = 2048;

// Groups rows into batches of indices. The longest rows come first, so that rows of a batch have similar lengths; empty
// rows are left out. A batch has at most `batch_size` rows or, if batch_size is 0, at most kTokensPerBatch tokens; a
// longer row is a batch of its own. The batches do not affect the results.
std::vector<std::vector<std::size_t>> batches_by_length(std::span<const TokenIds> rows, int batch_size);

}  // namespace encdec
