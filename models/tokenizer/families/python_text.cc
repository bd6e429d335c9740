#include "encdec/models/tokenizer/families/python_text.h"

#include <utf8proc.h>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/character_tables.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

using character_tables::contains;
using character_tables::Range;

utf8proc_category_t category_of(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

// Unicode's properties Cased and Case_Ignorable. kOthers lists Other_Lowercase and Other_Uppercase. kBreaks lists the
// characters with the word break properties MidLetter, MidNumLet and Single_Quote.
bool is_cased(char32_t c) {
  constexpr Range kOthers[] = {
      {0xAA, 0xAA},       {0xBA, 0xBA},       {0x2B0, 0x2B8},     {0x2C0, 0x2C1},     {0x2E0, 0x2E4},
      {0x345, 0x345},     {0x37A, 0x37A},     {0x1D2C, 0x1D6A},   {0x1D78, 0x1D78},   {0x1D9B, 0x1DBF},
      {0x2071, 0x2071},   {0x207F, 0x207F},   {0x2090, 0x209C},   {0x2160, 0x217F},   {0x24B6, 0x24E9},
      {0x2C7C, 0x2C7D},   {0xA69C, 0xA69D},   {0xA770, 0xA770},   {0xA7F8, 0xA7F9},   {0xAB5C, 0xAB5F},
      {0x10780, 0x10780}, {0x10783, 0x107BA}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
  const utf8proc_category_t of_c = category_of(c);
  return of_c == UTF8PROC_CATEGORY_LU || of_c == UTF8PROC_CATEGORY_LL || of_c == UTF8PROC_CATEGORY_LT ||
         contains(kOthers, c);
}

bool is_case_ignorable(char32_t c) {
  constexpr Range kBreaks[] = {{0x27, 0x27},     {0x2E, 0x2E},     {0x3A, 0x3A},     {0xB7, 0xB7},
                               {0x387, 0x387},   {0x55F, 0x55F},   {0x5F4, 0x5F4},   {0x2018, 0x2019},
                               {0x2024, 0x2024}, {0x2027, 0x2027}, {0xFE13, 0xFE13}, {0xFE52, 0xFE52},
                               {0xFE55, 0xFE55}, {0xFF07, 0xFF07}, {0xFF0E, 0xFF0E}, {0xFF1A, 0xFF1A}};
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return contains(kBreaks, c);
  }
}

}  // namespace

std::string python_lower(std::string_view valid) {
  constexpr char32_t kSigma = 0x3A3;
  std::string result;
  result.reserve(valid.size());
  bool after_cased = false;  // whether the last character that is not case-ignorable is cased
  for (std::string_view rest = valid; !rest.empty();) {
    poll_cancelled();
    const Character first = first_character(rest);
    rest.remove_prefix(first.bytes);
    if (first.value == kSigma && after_cased) {
      const std::string_view next = rest.substr(leading_bytes(rest, is_case_ignorable));
      const bool is_final = next.empty() || !is_cased(first_character(next).value);
      result += is_final ? "ς" : "σ";
    } else {
      append_lowercase(result, first.value);
    }
    if (!is_case_ignorable(first.value)) after_cased = is_cased(first.value);
  }
  return result;
}

}  // namespace encdec
