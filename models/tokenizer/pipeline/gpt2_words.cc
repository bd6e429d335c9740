#include "encdec/models/tokenizer/pipeline/gpt2_words.h"

#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

enum class CharacterKind { letter, number, space, other };

CharacterKind kind_of(char32_t c) {
  if (is_white_space(c)) return CharacterKind::space;
  if (is_letter(c)) return CharacterKind::letter;
  return is_number(c) ? CharacterKind::number : CharacterKind::other;
}

std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

// Bytes from `begin` to where characters of this kind end.
std::size_t run(std::string_view text, std::size_t begin, CharacterKind kind) {
  std::size_t end = begin;
  while (end < text.size()) {
    const Character c = first_character(text.substr(end));
    if (kind_of(c.value) != kind) break;
    end += c.bytes;
  }
  return end;
}

}  // namespace

std::size_t gpt2_word(std::string_view valid) {
  if (const std::size_t length = contraction(valid); length > 0) return length;
  const std::size_t begin = valid[0] == ' ' ? 1 : 0;
  if (begin < valid.size()) {
    const CharacterKind kind = kind_of(first_character(valid.substr(begin)).value);
    if (kind != CharacterKind::space) return run(valid, begin, kind);
  }
  const std::size_t end = run(valid, 0, CharacterKind::space);
  if (end == valid.size()) return end;
  // The last space belongs to the word that follows, unless it is the only one.
  const std::size_t last = last_character(valid.substr(0, end));
  return last > 0 ? last : end;
}

}  // namespace encdec
