#pragma once

#include <cstddef>
#include <string_view>

namespace encdec {

// Bytes of the first match, which begins at the beginning, of GPT-2's pattern for words:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// One match follows another without gaps. `valid` is UTF-8, not empty.
std::size_t gpt2_word(std::string_view valid);

}  // namespace encdec
