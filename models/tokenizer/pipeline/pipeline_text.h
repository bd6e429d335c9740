#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace encdec {

// Most bytes that rewriting may make of a text: a short rule of a hostile file can make a long text endless.
inline constexpr std::size_t kMaxRewrittenBytes = 64u << 20;
// Throws TokenizerError if `bytes` are more.
void check_rewritten(std::size_t bytes);

// A text on its way to pieces. What stands for the first character of what the caller gave is told apart: Metaspace
// with PrependScheme::first looks for it.
struct PipelineText {
  std::string text;
  std::size_t origin_bytes = 0;  // the first so many bytes of `text` stand for the caller's first character
  bool is_first = false;         // this text was cut out where the caller's text begins

  // All that a caller gave.
  static PipelineText whole(std::string_view text) { return part(text, 0, text.size()); }
  // The bytes from `begin` to `end` of that.
  static PipelineText part(std::string_view text, std::size_t begin, std::size_t end);
  // The bytes from `begin` to `end`, which are those of whole characters.
  PipelineText slice(std::size_t begin, std::size_t end) const&;
  // The same; all of a text is not copied.
  PipelineText slice(std::size_t begin, std::size_t end) &&;

  // Puts `prefix` in front, unless the text is empty.
  void prepend(std::string_view prefix);
  // Every byte becomes its character in byte-level vocabularies.
  void to_byte_characters();
};

// Makes a new text of an old one, from left to right.
class TextRewriter {
 public:
  explicit TextRewriter(PipelineText& text) : text_(text) { result_.reserve(text.text.size()); }

  // What is left of the old text.
  std::string_view rest() const { return std::string_view(text_.text).substr(position_); }
  // Takes over `bytes` bytes of the old text.
  void keep(std::size_t bytes);
  // Leaves out `bytes` bytes of the old text.
  void drop(std::size_t bytes) { position_ += bytes; }
  // Leaves out `bytes` bytes at the beginning; what follows counts as the caller's first character if they did.
  void drop_origin(std::size_t bytes);
  // Puts `by` in place of the next `bytes` bytes of the old text; what is put there belongs to the first of them.
  void replace(std::size_t bytes, std::string_view by);
  // Adds text that belongs to what was last taken from the old text.
  void insert(std::string_view added);
  bool is_empty() const { return result_.empty(); }
  // Stores the new text. What is left of the old one is left out.
  void finish();

 private:
  void append(std::string_view added, bool is_origin);

  PipelineText& text_;
  std::string result_;
  std::size_t position_ = 0;
  std::size_t origin_bytes_ = 0;
};

}  // namespace encdec
