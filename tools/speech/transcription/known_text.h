#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/speech/transcription/whisper_facts.h"

namespace encdec {

// Returns the letters and digits of a text in lower case. Bytes that are no whole character count as letters.
std::string spoken_part(std::string_view text);

// A word of a known text.
struct KnownWord {
  std::string text = {};    // with the punctuation that belongs to it, and with a space before it if there is any
  std::size_t line = 0;     // index in KnownText::lines
  TokenIds tokens = {};     // the tokens of `text`
  std::string spoken = {};  // letters and digits, in lower case
};

// A known text, cut into lines and words.
struct KnownText {
  // Lines end with "\n" or "\r\n"; blank lines are skipped. Words are the parts between white space or, in languages
  // without spaces, whole characters of tokens. A mark without letters and digits belongs to the word before it, or to
  // the one after it at the beginning of a line. Throws TokenizerError if the text is not UTF-8 or too long.
  KnownText(std::string_view text, const WhisperTokens& tokens, std::string_view language);

  std::vector<std::string> lines;  // without line ends
  std::vector<KnownWord> words;
};

using WordPairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Finds the words heard in a text: the chain of equal words with the highest score. Returns their pairs (index in
// `heard`, index in `text`), in order; none if no chain scores enough.
// - A pair counts 2. Between two pairs, n words of one and m of the other count -n if n = m, -n - 2.5 - 0.2 (m - n) if
//   n < m.
// - A chain that begins at word i of `heard` and word j of the text counts log2(1 + i) + 2 log2(1 + j) less: the next
//   words of a text are likelier than later ones.
// - Enough is 4 or, for fewer than 4 heard words, their number.
// Time grows with heard.size() * text.size(), memory with the number of equal words.
WordPairs match_words(std::span<const KnownWord> heard, std::span<const KnownWord> text);

}  // namespace encdec
