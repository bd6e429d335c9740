#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace encdec {

// How a translation got a term of a glossary or a word to keep.
struct TermReport {
  enum class Method : std::uint8_t {
    present,    // the model wrote the term by itself
    stand_in,   // the model copied another word in its place
    alignment,  // put where the attention of the model says
    forced,     // beam search was made to write the term
    failed,     // the translation lacks the term
  };
  std::size_t sentence = 0;  // number of the sentence in the text
  std::string source;        // the term as the text has it
  std::string target;        // the term to write
  Method method = Method::present;
};

}  // namespace encdec
