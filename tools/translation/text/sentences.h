#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/named_values.h"

namespace encdec {

// A part of a text that is translated by itself, and the white space after it.
struct Sentence {
  std::string text;  // empty if there is only white space
  std::string space;
};

// Where a text is split.
enum class Split : std::uint8_t {
  never,
  newlines,
  sentences,
  sentences_over_lines,  // at ends of sentences, but not at ends of lines
};

// The splits that users can choose.
inline constexpr std::array kSplits = {
    Named{Split::sentences, "sentences"},
    Named{Split::newlines, "lines"},
    Named{Split::never, "never"},
};

// Splits a text at ends of lines and sentences (Unicode annex 29, with the language's abbreviations
// from CLDR). Concatenating all texts and spaces gives the text again.
std::vector<Sentence> split_text(std::string_view text, Split split, const std::string& language);

// Splits texts until all parts fit: between sentences, else after a comma or similar mark, else
// between words, else between any two characters; each time as near to the middle as possible.
std::vector<Sentence> split_to_fit(std::vector<Sentence> sentences, const std::string& language,
                                   const std::function<bool(const std::string&)>& fits);

// Returns the word boundaries of a text (Unicode annex 29), including its end but not its beginning.
std::vector<std::size_t> word_boundaries(std::string_view text, const std::string& language);

}  // namespace encdec
