#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Maximum size of a rewritten text: a short rule of a hostile file could otherwise grow it without limit.
inline constexpr std::size_t kMaxRewrittenBytes = 64u << 20;
void check_rewritten_size(std::size_t bytes);  // throws TokenizerError if bytes > kMaxRewrittenBytes

// A range of the caller's text, [begin, end) in bytes.
struct ByteSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// A character of a rewritten text. `change` is its value in tokenizers' transform(): 0 replaces the next old character,
// 1 inserts a character, -n replaces the next old character and drops n more.
struct CharacterChange {
  std::uint32_t bytes;  // size of the new character
  std::int32_t change;
};

// A text between the caller and the model. Records which bytes come from the first character of the caller's text,
// because Metaspace with PrependScheme::first adds its prefix only there.
struct PipelineText {
  std::string text;
  std::size_t origin_bytes = 0;  // leading bytes that come from the caller's first character
  bool is_first = false;         // the text begins where the caller's text begins
  // For each byte of `text`, its range in the caller's text. Empty with Spans::none.
  std::vector<ByteSpan> spans = {};

  enum class Spans : std::uint8_t { none, kept };
  // Return the caller's text, or its bytes [begin, end).
  static PipelineText whole(std::string_view text) { return part(text, 0, text.size(), Spans::none); }
  static PipelineText part(std::string_view text, std::size_t begin, std::size_t end, Spans spans);
  // Returns the bytes [begin, end) of this text. The second overload moves the text if the slice is the whole text.
  PipelineText slice(std::size_t begin, std::size_t end) const&;
  PipelineText slice(std::size_t begin, std::size_t end) &&;

  void prepend(std::string_view prefix);  // does nothing if the text is empty
  // Replaces every byte by its character in byte-level vocabularies, see byte_character().
  void to_byte_characters();
  // Returns the spans of the text that results from `changes`, like tokenizers' transform().
  std::vector<ByteSpan> changed_spans(std::span<const CharacterChange> changes) const;
};

// Rewrites a PipelineText from left to right. keep, drop, drop_origin and replace consume bytes of the old text.
// Order of calls: (keep | drop | drop_origin | replace | insert)* finish.
class TextRewriter {
 public:
  explicit TextRewriter(PipelineText& text) : text_(text) { result_.reserve(text.text.size()); }

  // Returns the remaining bytes of the old text.
  std::string_view rest() const { return std::string_view(text_.text).substr(position_); }
  // Copy or skip the next `bytes` bytes.
  void keep(std::size_t bytes);
  void drop(std::size_t bytes) { position_ += bytes; }
  // Skips leading bytes. If they include the caller's first character, the next character counts as the first one.
  void drop_origin(std::size_t bytes);
  // Replaces the next `bytes` bytes by `by`. All of `by` gets the origin of the first replaced byte.
  void replace(std::size_t bytes, std::string_view by);
  // Appends `added` with the origin of the last consumed byte.
  void insert(std::string_view added);
  bool is_empty() const { return result_.empty(); }  // whether the new text is empty
  // Stores the new text in the PipelineText. Drops the remaining bytes of the old text.
  void finish();

 private:
  void append(std::string_view added, bool is_origin);
  void append_spans(std::size_t bytes, std::size_t from);

  PipelineText& text_;
  std::string result_;
  std::vector<ByteSpan> spans_;
  std::size_t position_ = 0;
  std::size_t origin_bytes_ = 0;
};

}  // namespace encdec
