#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/named_values.h"

namespace encdec {

// A part of a text that is translated on its own, and the white space after it, which is not translated.
struct Sentence {
  std::string text;  // empty if there is only white space
  std::string space;
};

// The places at which a text is cut.
enum class Split : std::uint8_t {
  never,
  newlines,
  sentences,
  sentences_over_lines,  // ends of sentences, but not ends of lines
};

// The names of the splits that users choose from.
inline constexpr std::array kSplits = {
    Named{Split::sentences, "sentences"},
    Named{Split::newlines, "lines"},
    Named{Split::never, "never"},
};

// Cuts a text at the ends of lines and of sentences. Ends of sentences are those of Unicode annex 29, with the
// abbreviations of the language (CLDR). The texts and spaces one after the other are the text again.
std::vector<Sentence> split_text(std::string_view text, Split split, const std::string& language);

// Cuts each text that does not fit into parts that fit: between sentences of the language, else after a comma or a
// similar mark, else between words, else between any two characters; each time as near to the middle as possible.
std::vector<Sentence> cut_to_fit(std::vector<Sentence> sentences, const std::string& language,
                                 const std::function<bool(const std::string&)>& fits);

// Returns the positions of the boundaries of words (Unicode annex 29) after the beginning of a text, including its end.
std::vector<std::size_t> word_boundaries(std::string_view text, const std::string& language);

}  // namespace encdec
