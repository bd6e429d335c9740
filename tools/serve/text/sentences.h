#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::serve {

// A part of a text that is translated by itself, and the white space behind it, which is not.
struct Sentence {
  std::string text;  // empty where only space stands there
  std::string space;
};

// Where a text may be cut.
enum class Split : std::uint8_t {
  never,
  newlines,
  sentences,
  sentences_over_lines,  // where lines are no sentences
};

// Cuts at the ends of lines, and at those of sentences as the Unicode standard tells them (annex 29) with the
// language's abbreviations (CLDR). Texts and spaces, one after the other, are the text again.
std::vector<Sentence> split_text(std::string_view text, Split split, const std::string& language);

// Cuts sentences that do not fit into parts that do: behind a comma or the like, else between words, else anywhere;
// those that fit stay as they are.
std::vector<Sentence> cut_to_fit(std::vector<Sentence> sentences, const std::function<bool(const std::string&)>& fits);

}  // namespace encdec::serve
