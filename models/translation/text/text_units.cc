#include "encdec/models/translation/text/text_units.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <cstdint>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

enum class Kind : std::uint8_t { space, letter, digit, single, extension };

bool is_spaceless(UChar32 c) {
  UErrorCode error = U_ZERO_ERROR;
  return uscript_breaksBetweenLetters(uscript_getScript(c, &error)) != 0;
}

Kind kind_of(UChar32 c) {
  if (u_isUWhiteSpace(c) != 0) return Kind::space;
  const auto category = U_GET_GC_MASK(c);
  if ((category & (U_GC_M_MASK | U_GC_CF_MASK)) != 0) return Kind::extension;
  if ((category & U_GC_N_MASK) != 0) return Kind::digit;
  return (category & U_GC_L_MASK) != 0 && !is_spaceless(c) ? Kind::letter : Kind::single;
}

}  // namespace

std::vector<TextUnit> units_of(std::string_view text, std::span<const std::size_t> cuts) {
  std::vector<TextUnit> units;
  Kind last = Kind::space;
  for (const auto& [value, place] : code_points(text)) {
    const Kind kind = kind_of(static_cast<UChar32>(value));
    const bool is_same = kind == last && (kind == Kind::letter || kind == Kind::digit);
    const bool goes_on = is_same || (kind == Kind::extension && last != Kind::space);
    const std::size_t end = place + first_character(text.substr(place)).bytes;
    if (goes_on && !std::ranges::binary_search(cuts, place)) {
      units.back().end = end;
    } else if (kind != Kind::space) {
      units.push_back({.begin = place, .end = end, .goes_on = goes_on});
    }
    if (!goes_on) last = kind == Kind::extension ? Kind::single : kind;
  }
  return units;
}

bool ends_without_space(std::string_view text) {
  if (text.empty()) return false;
  const auto last = static_cast<UChar32>(first_character(text.substr(last_character(text))).value);
  const int width = u_getIntPropertyValue(last, UCHAR_EAST_ASIAN_WIDTH);
  return is_spaceless(last) || width == U_EA_WIDE || width == U_EA_FULLWIDTH;
}

}  // namespace encdec
