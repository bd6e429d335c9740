#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace encdec {

using WordPairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Finds what was heard in a text: the chain of equal words with the highest score. Returns their pairs (index in
// `heard`, index in `text`), in order; none if no chain scores enough.
// - A pair counts 2. Between two pairs, n words of one and m of the other count -n if n = m, -n - 2.5 - 0.2 (m - n) if
//   n < m.
// - A chain that begins at word i of `heard` and word j of the text counts log2(1 + i) + 2 log2(1 + j) less: the next
//   words of a text are likelier than later ones.
// - Enough is 4 or, for fewer than 4 heard words, their number.
// Time grows with heard.size() * text.size(), memory with the number of equal words.
WordPairs match_words(std::span<const std::string_view> heard, std::span<const std::string_view> text);

}  // namespace encdec
