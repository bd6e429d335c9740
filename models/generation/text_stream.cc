#include "encdec/models/generation/text_stream.h"

#include <array>
#include <string_view>

#include "encdec/models/tokenizer/pipeline/byte_pieces.h"
#include "encdec/models/tokenizer/utf8.h"

namespace encdec {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";
// Ends of a text that may lose their sign: pieces of Blenderbot-small that go on.
constexpr std::string_view kWordGoesOn = "@@";
// Last words that may lose the space before them, once they are " n't", " 've" and the like: see clean_up_spaces().
constexpr std::array<std::string_view, 5> kClitics = {"'", "'v", "'r", "n", "n'"};

std::string_view without_suffix(std::string_view text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  return text;
}

std::string_view without_clitic(std::string_view text) {
  for (const std::string_view clitic : kClitics) {
    const std::string_view rest = without_suffix(text, clitic);
    if (rest.size() < text.size() && rest.ends_with(' ')) return rest;
  }
  return text;
}

// How much of a text stays as it is, whatever comes after it.
std::size_t certain_bytes(std::string_view text) {
  std::size_t before = 0;
  do {
    before = text.size();
    text = without_suffix(text, kReplacementCharacter);  // perhaps the first bytes of another character
    text = without_suffix(text, kWordGoesOn);
    text = without_clitic(text);
    text = strip_right(text);
  } while (text.size() < before);
  return before;
}

}  // namespace

std::string TextStream::push(std::span<const std::int32_t> tokens) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  const std::string text = decode_known(*tokenizer_, std::span(tokens_).first(decodable()));
  return tell(text, certain_bytes(text));
}

std::string TextStream::finish() {
  const std::string text = decode_known(*tokenizer_, tokens_);
  return tell(text, text.size());
}

std::string TextStream::tell(const std::string& text, std::size_t certain) {
  if (certain <= told_) return {};
  std::string piece = text.substr(told_, certain - told_);
  told_ = certain;
  return piece;
}

// Byte pieces in a row become characters together, or do not, and tokens without text do not part them: what comes
// before them is as certain as it can be.
std::size_t TextStream::decodable() const {
  std::size_t count = tokens_.size();
  for (; count > 0; --count) {
    const auto last = std::span(tokens_).subspan(count - 1, 1);
    if (!decode_known(*tokenizer_, last).empty() && !piece_byte(tokenizer_->pieces(last, TextSide::target).front())) {
      break;
    }
  }
  return count;
}

}  // namespace encdec
