#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/speech/transcription/whisper_tokens.h"

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

}  // namespace encdec
