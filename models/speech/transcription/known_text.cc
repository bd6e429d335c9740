#include "encdec/models/speech/transcription/known_text.h"

#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/speech/transcript/word_tokens.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

bool is_space(char32_t c) {
  return is_white_space(c) || c == U'\uFEFF';  // byte order mark
}

// Adds a word to those of its line. A mark and its neighbour become one word.
void add_word(std::vector<KnownWord>& words, KnownWord word) {
  word.spoken = spoken_part(word.text);
  const bool is_first = words.empty() || words.back().line != word.line;
  if (is_first || (!words.back().spoken.empty() && !word.spoken.empty())) return words.push_back(std::move(word));
  KnownWord& last = words.back();
  last.text += word.text;
  last.tokens.insert(last.tokens.end(), word.tokens.begin(), word.tokens.end());
  last.spoken += word.spoken;
}

}  // namespace

std::string spoken_part(std::string_view text) {
  const std::string valid = replace_invalid_utf8(text);
  std::string spoken;
  for (const CodePoint& point : code_points(valid)) {
    if (is_word_character(point.value) || point.value == U'\uFFFD') append_lowercase(spoken, point.value);
  }
  return spoken;
}

KnownText::KnownText(std::string_view text, const WhisperTokens& tokens, std::string_view language) {
  check_text(text);
  const auto decode = [&](std::span<const std::int32_t> ids) { return tokens.bytes(ids); };
  const bool has_spaces = is_written_with_spaces(language);
  for (std::size_t at = 0; at < text.size();) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (leading_bytes(line, is_space) == line.size()) continue;
    lines.emplace_back(line);
    while (!line.empty()) {
      poll_cancelled();
      const std::size_t spaces = leading_bytes(line, is_space);
      line.remove_prefix(spaces);
      const std::size_t size = leading_bytes(line, [](char32_t c) { return !is_space(c); });
      std::string part((has_spaces || spaces > 0) && size > 0 ? " " : "");
      part += line.substr(0, size);
      line.remove_prefix(size);
      std::vector<WordTokens> pieces = {{part, tokens.encode(part)}};
      if (!has_spaces) pieces = split_to_word_tokens(pieces.front().tokens, language, tokens.end_of_text, decode);
      for (WordTokens& piece : pieces) {
        add_word(words, {.text = std::move(piece.text), .line = lines.size() - 1, .tokens = std::move(piece.tokens)});
      }
    }
  }
}

}  // namespace encdec
