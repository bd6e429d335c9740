#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/network/config.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// Throws InputError, "source 3: ..." for what 'source' and number 3, unless a stack can read these tokens.
void check_tokens(std::span<const std::int32_t> tokens, const StackConfig& stack, std::string_view what,
                  std::size_t number);
// The same for rows with the numbers 1, 2, ..., before any work is done, so that a bad one is found at once.
void check_rows(std::span<const TokenIds> rows, const StackConfig& stack, std::string_view what);
// The same for frames of sound: [F, mel bands], F a multiple of kFramesPerRow, no more than there are positions.
void check_frames(const Tensor& frames, const StackConfig& stack, std::string_view what, std::size_t number);
// Throws InputError if there are no tokens; likewise for rows.
void check_not_empty(std::span<const std::int32_t> tokens, std::string_view what, std::size_t number);
void check_not_empty(std::span<const TokenIds> rows, std::string_view what);

// Tokens that keep a CPU busy when they are read together.
inline constexpr std::size_t kBusyTokens = 2048;

// Indices of rows that are read together, the longest first, so that those of like length meet; empty ones are left
// out. A batch has `batch_size` rows or, where that is 0, tokens enough to keep the CPU busy. Results do not depend on
// it.
std::vector<std::vector<std::size_t>> batches_by_length(std::span<const TokenIds> rows, int batch_size);

}  // namespace encdec
