#include "encdec/models/speech/transcript/word_tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

constexpr char32_t kReplacement = U'\uFFFD';
constexpr std::array<std::string_view, 6> kLanguagesWithoutSpaces = {"zh", "ja", "th", "lo", "my", "yue"};
constexpr std::string_view kAsciiPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

std::u32string characters_of(std::string_view bytes) {
  const std::string valid = replace_invalid_utf8(bytes);
  std::u32string characters;
  for (const CodePoint& point : code_points(valid)) characters += point.value;
  return characters;
}

// Cuts the tokens into pieces of whole characters: a piece decodes without U+FFFD, or the whole text has a U+FFFD at
// the same place.
std::vector<WordTokens> split_on_characters(std::span<const std::int32_t> tokens, const DecodeTokens& decode) {
  const std::u32string all = characters_of(decode(tokens));
  std::vector<WordTokens> pieces;
  std::size_t first = 0;   // first token of the piece
  std::size_t offset = 0;  // index in `all` of the piece's first character
  for (std::size_t end = 1; end <= tokens.size(); ++end) {
    const auto piece = tokens.subspan(first, end - first);
    const std::string bytes = decode(piece);
    const std::u32string decoded = characters_of(bytes);
    const std::size_t broken = decoded.find(kReplacement);
    if (broken != decoded.npos && (offset + broken >= all.size() || all[offset + broken] != kReplacement)) continue;
    pieces.push_back({replace_invalid_utf8(bytes), {piece.begin(), piece.end()}});
    offset += decoded.size();
    first = end;
  }
  return pieces;
}

bool begins_word(const WordTokens& piece, std::int32_t end_of_text) {
  return piece.tokens.front() >= end_of_text || piece.text.starts_with(' ') ||
         kAsciiPunctuation.find(strip(piece.text)) != kAsciiPunctuation.npos;
}

}  // namespace

bool is_written_with_spaces(std::string_view language) {
  return std::ranges::find(kLanguagesWithoutSpaces, language) == kLanguagesWithoutSpaces.end();
}

std::vector<WordTokens> split_to_word_tokens(std::span<const std::int32_t> tokens, std::string_view language,
                                             std::int32_t end_of_text, const DecodeTokens& decode) {
  std::vector<WordTokens> pieces = split_on_characters(tokens, decode);
  if (!is_written_with_spaces(language)) return pieces;
  std::vector<WordTokens> words;
  for (WordTokens& piece : pieces) {
    if (words.empty() || begins_word(piece, end_of_text)) {
      words.push_back(std::move(piece));
    } else {
      words.back().text += piece.text;
      words.back().tokens.insert(words.back().tokens.end(), piece.tokens.begin(), piece.tokens.end());
    }
  }
  return words;
}

}  // namespace encdec
