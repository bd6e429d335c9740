#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

namespace encdec {

// A function that rewrites subwords into the parts that form the decoded text. Throws TokenizerError if the parts
// become longer than kMaxRewrittenBytes, or a pattern exceeds its step limit. Thread-safe.
using PieceDecoder = std::function<void(std::vector<std::string>& pieces)>;

// Replaces every `from` in the text by `to`.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// Removes spaces before punctuation and contractions ("do n't"), like clean_up_tokenization of transformers 5.23.
std::string clean_up_spaces(std::string text);

// The decoders of tokenizer.json, with the same names and results as in Hugging Face's tokenizers 0.23.
namespace piece_decoders {

PieceDecoder sequence(std::vector<PieceDecoder> parts);

struct MetaspaceOptions {
  std::string replacement = "▁";  // one character
  bool keep_first = false;        // keep the first subword's space (true with PrependScheme::never)
};
// Replaces `replacement` by a space. In the first subword, removes `replacement` unless `keep_first` is set.
PieceDecoder metaspace(MetaspaceOptions options);
// Converts byte_character()s back to bytes, and joins the subwords. Replaces invalid UTF-8 by U+FFFD.
void byte_level(std::vector<std::string>& pieces);
// Appends the bytes of one byte-level subword. If a character is not one of byte_character(), appends the subword
// unchanged.
void append_piece_bytes(std::string_view piece, std::string& bytes);

struct WordPieceOptions {
  std::string prefix = "##";
  bool clean_up = true;
};
// Changes each subword except the first: removes its prefix, or prepends a space if it has no prefix.
PieceDecoder word_piece(WordPieceOptions options);
// Replaces the suffix by a space. In the last subword, removes the suffix.
PieceDecoder bpe(std::string suffix);
PieceDecoder replace(Pattern pattern, std::string content);
// Converts each run of subwords <0xNN> to text, or to one U+FFFD per byte if the bytes are not UTF-8.
void byte_fallback(std::vector<std::string>& pieces);
void fuse(std::vector<std::string>& pieces);  // joins all subwords

struct StripOptions {
  std::string content = " ";  // one character
  std::size_t start = 0;      // maximum number of characters to remove from the beginning
  std::size_t stop = 0;       // maximum number of characters to remove from the end
};
PieceDecoder strip(StripOptions options);

}  // namespace piece_decoders
}  // namespace encdec
