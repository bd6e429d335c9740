#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Maximum size of a rewritten text. Without it a short rule of a hostile file could make a text arbitrarily long.
inline constexpr std::size_t kMaxRewrittenBytes = 64u << 20;
// Throws TokenizerError if `bytes` > kMaxRewrittenBytes.
void check_rewritten_size(std::size_t bytes);

// A part of a caller's text, [begin, end) in bytes.
struct ByteSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// A character of a rewritten text, and how tokenizers counts it: 0 replaces the next old character, 1 is inserted, and
// -n replaces the next old character and drops n more.
struct CharacterChange {
  std::uint32_t bytes;  // size of the new character
  std::int32_t change;
};

// A text between the caller and the piece model. It records which of its bytes come from the first character of the
// caller's text: only there does Metaspace with PrependScheme::first add its prefix.
struct PipelineText {
  std::string text;
  std::size_t origin_bytes = 0;  // number of bytes at the beginning of `text` that come from that first character
  bool is_first = false;         // the text begins where the caller's text begins
  // For each byte of `text`, the part of the caller's text that it stands for. Empty if the caller does not ask for it.
  std::vector<ByteSpan> spans = {};

  enum class Spans : std::uint8_t { none, kept };
  // Returns the whole text of a caller.
  static PipelineText whole(std::string_view text) { return part(text, 0, text.size(), Spans::none); }
  // Returns the bytes [begin, end) of the text of a caller.
  static PipelineText part(std::string_view text, std::size_t begin, std::size_t end, Spans spans);
  // Returns the bytes [begin, end) of this text.
  // REQUIRES: they are whole characters.
  PipelineText slice(std::size_t begin, std::size_t end) const&;
  // The same, but moves the text if the slice is all of it.
  PipelineText slice(std::size_t begin, std::size_t end) &&;

  // Puts `prefix` in front, unless the text is empty.
  void prepend(std::string_view prefix);
  // Replaces every byte by its character in byte-level vocabularies, see byte_character().
  void to_byte_characters();
  // Returns the spans after a rewriting of the text into the characters of `changes`, as tokenizers does.
  std::vector<ByteSpan> changed_spans(std::span<const CharacterChange> changes) const;
};

// A rewriter of a PipelineText, from left to right. Bytes are taken from the old text by keep, drop and replace.
// Order of calls: (keep | drop | drop_origin | replace | insert)* finish.
class TextRewriter {
 public:
  explicit TextRewriter(PipelineText& text) : text_(text) { result_.reserve(text.text.size()); }

  // Returns the bytes of the old text that have not been taken.
  std::string_view rest() const { return std::string_view(text_.text).substr(position_); }
  // Copies the next `bytes` bytes of the old text.
  void keep(std::size_t bytes);
  // Skips the next `bytes` bytes of the old text.
  void drop(std::size_t bytes) { position_ += bytes; }
  // Skips the next `bytes` bytes at the beginning of the old text. If origin_bytes was not 0, the following character
  // takes the place of the caller's first character.
  void drop_origin(std::size_t bytes);
  // Replaces the next `bytes` bytes of the old text by `by`. All of `by` counts as coming from the first of them.
  void replace(std::size_t bytes, std::string_view by);
  // Appends `added`, which counts as coming from the byte that was taken last.
  void insert(std::string_view added);
  // Returns whether the new text is empty.
  bool is_empty() const { return result_.empty(); }
  // Stores the new text in the PipelineText. Bytes that were not taken are dropped.
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
