#include "encdec/models/generation/text_stream.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";
// Minimum number of tokens that are decoded again as the context of later tokens.
constexpr std::size_t kDecodedTokens = 32;
// Blenderbot-small puts this mark at the end of a token whose word continues. The next token removes the mark.
constexpr std::string_view kWordGoesOn = "@@";
// clean_up_spaces() removes the space before clitics ("n't", "'ve", ...). Clitics can begin with these characters.
constexpr std::array<std::string_view, 5> kClitics = {"'", "'v", "'r", "n", "n'"};

std::string_view without_suffix(std::string_view text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  return text;
}

// If the text ends with a space and the beginning of a clitic, drops this beginning.
std::string_view without_clitic(std::string_view text) {
  for (const std::string_view clitic : kClitics) {
    const std::string_view rest = without_suffix(text, clitic);
    if (rest.size() < text.size() && rest.ends_with(' ')) return rest;
  }
  return text;
}

// Returns the number of bytes at the beginning of `text` that no later token can change.
std::size_t final_bytes(std::string_view text) {
  std::size_t before = 0;
  // Strip endings that later tokens may change, until there is no such ending.
  do {
    before = text.size();
    text = without_suffix(text, kReplacementCharacter);  // decoded from the first bytes of a character
    text = without_suffix(text, kWordGoesOn);
    text = without_clitic(text);
    text = strip_right(text);
  } while (text.size() < before);
  return before;
}

}  // namespace

std::string TextStream::push(std::span<const std::int32_t> tokens) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  // Decode the window. Return the final part of its text, without the bytes that were returned before.
  const std::string text = decode_known(*tokenizer_, window());
  const std::size_t begin = returned_bytes_ - bytes_before_window_, end = final_bytes(text);
  std::string added;
  if (end > begin) added = text.substr(begin, end - begin);
  returned_bytes_ += added.size();
  shorten_window(text);
  return added;
}

std::string TextStream::finish() {
  const std::string text = decode_known(*tokenizer_, tokens_);
  std::string rest = text.substr(std::min(returned_bytes_, text.size()));
  returned_bytes_ += rest.size();
  return rest;
}

// Returns the tokens from window_begin_ on, without a run of byte tokens at the end: further byte
// tokens may turn the run into other characters. Tokens without text do not interrupt a run.
std::span<const std::int32_t> TextStream::window() const {
  std::size_t end = tokens_.size();
  for (; end > window_begin_; --end) {
    const auto last = std::span(tokens_).subspan(end - 1, 1);
    if (!decode_known(*tokenizer_, last).empty() && !piece_byte(tokenizer_->pieces(last, TextSide::target).front())) {
      break;
    }
  }
  return std::span(tokens_).subspan(window_begin_, end - window_begin_);
}

// Drops those tokens at the front of the window that are not needed to decode later tokens. `text`: the window's text.
void TextStream::shorten_window(std::string_view text) {
  const auto tokens = window();
  if (tokens.size() < 2 * kDecodedTokens) return;
  const std::string shorter = decode_known(*tokenizer_, tokens.last(kDecodedTokens));
  // A shorter window may decode to different text, for example if the window begins within a character.
  if (!text.ends_with(shorter)) return;
  const std::size_t before = text.size() - shorter.size();
  if (bytes_before_window_ + before > returned_bytes_) return;
  bytes_before_window_ += before;
  window_begin_ += tokens.size() - kDecodedTokens;
}

}  // namespace encdec
