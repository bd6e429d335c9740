#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/speech/transcription/whisper_facts.h"

namespace encdec {

// Returns the letters and digits of `text` in lower case. Invalid UTF-8 is treated as letters.
std::string spoken_part(std::string_view text);

struct KnownWord {
  std::string text = {};    // with the preceding space and with punctuation
  std::size_t line = 0;     // index in KnownText::lines
  TokenIds tokens = {};     // tokens of `text`
  std::string spoken = {};  // spoken_part(text)
};

// A known text, split into lines and words.
struct KnownText {
  // Skips blank lines. Words are separated by white space. In languages without spaces, each group of tokens that
  // forms whole characters is a word. A mark without letters and digits belongs to the previous word or, at the
  // beginning of a line, to the next word. Throws TokenizerError if the text is not UTF-8 or is too long.
  KnownText(std::string_view text, const WhisperTokens& tokens, std::string_view language);

  std::vector<std::string> lines;  // without line ends
  std::vector<KnownWord> words;
};

using WordPairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Finds a transcript in a text, by the chain of equal words with the highest score. Returns the pairs (index in
// `heard`, index in `text`) of the chain in order, or no pairs if the score is below min(4, heard.size()).
// - Each pair adds 2.
// - Let n <= m be the numbers of unpaired words between two pairs, one number for each list. These words subtract n
//   and, if n < m, also 2.5 + 0.2 (m - n).
// - A chain that begins at heard[i] and text[j] subtracts log2(1 + i) + 2 log2(1 + j), since a
//   transcript probably continues where the text continues.
// Time grows with heard.size() * text.size(), memory with the number of equal pairs.
WordPairs match_words(std::span<const KnownWord> heard, std::span<const KnownWord> text);

}  // namespace encdec
