#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "encdec/engine/base/named_values.h"

namespace encdec {

// How a translation got a term of a glossary or a word to keep.
struct TermReport {
  enum class Method : std::uint8_t {
    present,    // the model wrote the term by itself
    stand_in,   // the model copied another word in its place
    alignment,  // put where the attention of the model says
    forced,     // beam search was made to write the term
    inserted,   // put beside the words that the attention of the model points to
    failed,     // the translation lacks the term
  };
  std::string source;  // the term as the text has it
  std::string target;  // the term to write
  Method method = Method::present;
};

// The names of the methods in reports.
inline constexpr std::array kTermMethods = {
    Named{TermReport::Method::present, "present"},     Named{TermReport::Method::stand_in, "stand_in"},
    Named{TermReport::Method::alignment, "alignment"}, Named{TermReport::Method::forced, "forced"},
    Named{TermReport::Method::inserted, "inserted"},   Named{TermReport::Method::failed, "failed"},
};

}  // namespace encdec
