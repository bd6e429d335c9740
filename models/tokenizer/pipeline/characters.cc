#include "encdec/models/tokenizer/pipeline/characters.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/pipeline/character_tables.h"

namespace encdec {
namespace {

using character_tables::contains;
using character_tables::Range;

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool in_categories(char32_t c, utf8proc_category_t first, utf8proc_category_t last) {
  const utf8proc_category_t found = category(c);
  return found >= first && found <= last;
}

bool is_between(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

struct ByteAlphabet {  // byte_character() and its inverse
  ByteAlphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printable = is_between(byte, '!', '~') || is_between(byte, 0xA1, 0xAC) || is_between(byte, 0xAE, 0xFF);
      const char32_t c = printable ? byte : next++;
      append_utf8(characters[byte], c);
      bytes[c] = static_cast<std::int16_t>(byte);
    }
  }

  std::array<std::string, 256> characters;
  std::array<std::int16_t, 0x144> bytes;
};

const ByteAlphabet& byte_alphabet() {
  static const ByteAlphabet alphabet;
  return alphabet;
}

// Returns whether the character is newer than the Unicode tables of tokenizers' normalization. tokenizers treats such a
// character like a letter, without a decomposition and with combining class 0.
bool is_too_new(utf8proc_int32_t c) {
  return c > 0x7FC && contains(character_tables::kNotDecomposed, static_cast<char32_t>(c));
}

utf8proc_propval_t combining_class(utf8proc_int32_t c) {
  return is_too_new(c) ? utf8proc_propval_t{0} : utf8proc_get_property(c)->combining_class;
}

// A character, and its CharacterChange::change.
struct ChangedCharacter {
  utf8proc_int32_t value;
  std::int32_t change;
};

// Sorts runs of marks by combining class (Canonical Ordering Algorithm). `value_of(element)` returns a character.
template <class Element, class ValueOf>
void order_marks(std::vector<Element>& text, const ValueOf& value_of) {
  const auto class_of = [&](const Element& element) { return combining_class(value_of(element)); };
  for (std::size_t begin = 0; begin < text.size();) {
    if (class_of(text[begin]) == 0) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < text.size() && class_of(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const Element& a, const Element& b) { return class_of(a) < class_of(b); });
    begin = end;
  }
}

constexpr auto kComposing = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);

// Composes letters and marks, but not across a character that is too new.
std::vector<utf8proc_int32_t> compose(std::vector<utf8proc_int32_t> text) {
  std::vector<utf8proc_int32_t> result;
  result.reserve(text.size());
  // Compose the text up to the next character that is too new, then copy that character.
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && !is_too_new(text[end])) ++end;
    const utf8proc_ssize_t size =
        utf8proc_normalize_utf32(text.data() + begin, static_cast<utf8proc_ssize_t>(end - begin), kComposing);
    result.insert(result.end(), text.data() + begin, text.data() + begin + size);
    if (end < text.size()) result.push_back(text[end++]);
    begin = end;
  }
  return result;
}

// Composes like compose(), and computes the `change` of each composed character.
std::vector<ChangedCharacter> compose_changes(std::span<const ChangedCharacter> text) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<ChangedCharacter> result;
  std::size_t starter = kNone;  // index in `result` of the letter with which marks are composed
  utf8proc_propval_t last_class = 0;
  for (const ChangedCharacter& c : text) {
    const utf8proc_propval_t own_class = combining_class(c.value);
    const bool is_next = starter != kNone && starter + 1 == result.size();
    // Compose the character with the starter unless a mark of the same or a higher class is between them.
    if (starter != kNone && (is_next || last_class < own_class) && !is_too_new(c.value)) {
      std::array<utf8proc_int32_t, 2> both = {result[starter].value, c.value};
      if (utf8proc_normalize_utf32(both.data(), 2, kComposing) == 1) {
        result[starter] = {both[0], result[starter].change + c.change - 1};
        continue;
      }
    }
    last_class = own_class;
    if (own_class == 0) starter = is_too_new(c.value) ? kNone : result.size();
    result.push_back(c);
  }
  return result;
}

bool is_composed(NormalForm form) {
  return form == NormalForm::nfc || form == NormalForm::nfkc;
}

// Decomposes each character, and calls take(part, is_first) with each part.
template <class Take>
void decompose(std::string_view valid, NormalForm form, const Take& take) {
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  while (!valid.empty()) {
    poll_cancelled();
    const Character c = first_character(valid);
    valid.remove_prefix(c.bytes);
    std::array<utf8proc_int32_t, 32> parts;  // a character has at most 18 parts
    utf8proc_ssize_t count = 1;
    parts[0] = static_cast<utf8proc_int32_t>(c.value);
    if (c.value >= 0x80 && !is_too_new(parts[0])) {
      int unused = 0;
      count = utf8proc_decompose_char(parts[0], parts.data(), parts.size(), options, &unused);
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i) take(parts[static_cast<std::size_t>(i)], i == 0);
  }
}

// Returns whether `c` has Unicode's property Cased. kOthers lists Other_Lowercase and Other_Uppercase.
bool is_cased(char32_t c) {
  constexpr Range kOthers[] = {
      {0xAA, 0xAA},       {0xBA, 0xBA},       {0x2B0, 0x2B8},     {0x2C0, 0x2C1},     {0x2E0, 0x2E4},
      {0x345, 0x345},     {0x37A, 0x37A},     {0x1D2C, 0x1D6A},   {0x1D78, 0x1D78},   {0x1D9B, 0x1DBF},
      {0x2071, 0x2071},   {0x207F, 0x207F},   {0x2090, 0x209C},   {0x2160, 0x217F},   {0x24B6, 0x24E9},
      {0x2C7C, 0x2C7D},   {0xA69C, 0xA69D},   {0xA770, 0xA770},   {0xA7F8, 0xA7F9},   {0xAB5C, 0xAB5F},
      {0x10780, 0x10780}, {0x10783, 0x107BA}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
  const utf8proc_category_t of_c = category(c);
  return of_c == UTF8PROC_CATEGORY_LU || of_c == UTF8PROC_CATEGORY_LL || of_c == UTF8PROC_CATEGORY_LT ||
         contains(kOthers, c);
}

// Returns whether `c` has Unicode's property Case_Ignorable. kBreaks lists MidLetter, MidNumLet and Single_Quote.
bool is_case_ignorable(char32_t c) {
  constexpr Range kBreaks[] = {{0x27, 0x27},     {0x2E, 0x2E},     {0x3A, 0x3A},     {0xB7, 0xB7},
                               {0x387, 0x387},   {0x55F, 0x55F},   {0x5F4, 0x5F4},   {0x2018, 0x2019},
                               {0x2024, 0x2024}, {0x2027, 0x2027}, {0xFE13, 0xFE13}, {0xFE52, 0xFE52},
                               {0xFE55, 0xFE55}, {0xFF07, 0xFF07}, {0xFF0E, 0xFF0E}, {0xFF1A, 0xFF1A}};
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return contains(kBreaks, c);
  }
}

}  // namespace

bool is_letter(char32_t c) {
  if (c < 0x80) return is_between(c | 0x20, 'a', 'z');
  return in_categories(c, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO) || contains(character_tables::kMoreLetters, c);
}

bool is_number(char32_t c) {
  if (c < 0x80) return is_between(c, '0', '9');
  return in_categories(c, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO) || contains(character_tables::kMoreNumbers, c);
}

bool is_word_character(char32_t c) {
  if (c < 0x80) return is_letter(c) || is_number(c) || c == '_';
  // The property Alphabetic covers letters, letter numbers, some marks, and these symbols.
  const bool alphabetic_symbol = is_between(c, 0x24B6, 0x24E9) || is_between(c, 0x1F130, 0x1F149) ||
                                 is_between(c, 0x1F150, 0x1F169) || is_between(c, 0x1F170, 0x1F189);
  return is_letter(c) || in_categories(c, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_NL) ||
         category(c) == UTF8PROC_CATEGORY_PC || alphabetic_symbol || c == 0x200C || c == 0x200D ||
         contains(character_tables::kMoreNumbers, c) || contains(character_tables::kMoreWordMarks, c);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return is_between(c, '!', '~') && !is_letter(c) && !is_number(c);
  return (in_categories(c, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO) &&
          !contains(character_tables::kNotPunctuation, c)) ||
         contains(character_tables::kMorePunctuation, c);
}

bool is_mark(char32_t c) {
  return (in_categories(c, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME) && !contains(character_tables::kNotMarks, c)) ||
         contains(character_tables::kMoreMarks, c);
}

bool is_nonspacing_mark(char32_t c) {
  return (category(c) == UTF8PROC_CATEGORY_MN && !contains(character_tables::kNotNonspacingMarks, c)) ||
         contains(character_tables::kMoreNonspacingMarks, c);
}

bool is_control(char32_t c) {
  const utf8proc_category_t found = category(c);
  return (found == UTF8PROC_CATEGORY_CC || found == UTF8PROC_CATEGORY_CF || found == UTF8PROC_CATEGORY_CO) &&
         !contains(character_tables::kNotControl, c);
}

bool is_chinese(char32_t c) {  // the ranges of is_chinese_char() in tokenizers' normalizers/bert.rs
  return is_between(c, 0x4E00, 0x9FFF) || is_between(c, 0x3400, 0x4DBF) || is_between(c, 0x20000, 0x2A6DF) ||
         is_between(c, 0x2A700, 0x2B73F) || is_between(c, 0x2B740, 0x2B81F) || is_between(c, 0x2B920, 0x2CEAF) ||
         is_between(c, 0xF900, 0xFAFF) || is_between(c, 0x2F800, 0x2FA1F);
}

void append_lowercase(std::string& text, char32_t c) {
  if (c == 0x130) {  // U+0130 is the only character whose lowercase form has two characters
    text += "i\xCC\x87";
    return;
  }
  append_utf8(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

std::string python_lower(std::string_view valid) {
  constexpr char32_t kSigma = 0x3A3;
  std::string result;
  result.reserve(valid.size());
  bool after_cased = false;  // whether the last character that is not case-ignorable is cased
  for (std::string_view rest = valid; !rest.empty();) {
    poll_cancelled();
    const Character first = first_character(rest);
    rest.remove_prefix(first.bytes);
    // Unicode's condition Final_Sigma: a sigma is final if a cased letter precedes it and no cased letter follows it.
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

std::string normal_form(std::string_view valid, NormalForm form) {
  const bool is_ascii = std::all_of(valid.begin(), valid.end(), [](char byte) { return (byte & 0x80) == 0; });
  if (is_ascii) return std::string(valid);
  // Decompose character by character and sort the marks here: utf8proc sorts marks in quadratic time.
  std::vector<utf8proc_int32_t> decomposed;
  decomposed.reserve(valid.size());
  decompose(valid, form, [&](utf8proc_int32_t part, bool /*is_first*/) { decomposed.push_back(part); });
  order_marks(decomposed, [](utf8proc_int32_t c) { return c; });
  if (is_composed(form)) decomposed = compose(std::move(decomposed));
  std::string result;
  for (const utf8proc_int32_t c : decomposed) append_utf8(result, static_cast<char32_t>(c));
  return result;
}

std::vector<CharacterChange> normal_form_changes(std::string_view valid, NormalForm form) {
  std::vector<ChangedCharacter> characters;
  decompose(valid, form, [&](utf8proc_int32_t part, bool is_first) { characters.push_back({part, is_first ? 0 : 1}); });
  order_marks(characters, [](const ChangedCharacter& c) { return c.value; });
  if (is_composed(form)) characters = compose_changes(characters);
  std::vector<CharacterChange> changes;
  std::string bytes;
  for (const auto& [value, change] : characters) {
    bytes.clear();
    append_utf8(bytes, static_cast<char32_t>(value));
    changes.push_back({static_cast<std::uint32_t>(bytes.size()), change});
  }
  return changes;
}

std::size_t first_grapheme(std::string_view valid) {
  Character c = first_character(valid);
  std::size_t end = c.bytes;
  utf8proc_int32_t state = 0;
  while (end < valid.size()) {
    const Character following = first_character(valid.substr(end));
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(c.value),
                                         static_cast<utf8proc_int32_t>(following.value), &state)) {
      break;
    }
    end += following.bytes;
    c = following;
  }
  return end;
}

std::string_view byte_character(std::uint8_t byte) {
  return byte_alphabet().characters[byte];
}

int character_byte(char32_t c) {
  return c < byte_alphabet().bytes.size() ? byte_alphabet().bytes[c] : -1;
}

std::string byte_piece(std::uint8_t byte) {
  return fmt::format("<0x{:02X}>", byte);
}

std::optional<std::uint8_t> piece_byte(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  std::string_view digits = piece.substr(3, 2);
  if (digits[0] == '+') digits.remove_prefix(1);  // Rust accepts "<0x+A>"
  std::uint8_t byte = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole ? std::optional(byte) : std::nullopt;
}

}  // namespace encdec
