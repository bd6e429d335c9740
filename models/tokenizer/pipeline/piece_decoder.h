#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

namespace encdec {

// A function that rewrites pieces so that, joined, they are the decoded text. Throws TokenizerError if the pieces
// become longer than kMaxRewrittenBytes, or a pattern exceeds its step limit. Thread-safe.
using PieceDecoder = std::function<void(std::vector<std::string>& pieces)>;

// Replaces every `from` in the text by `to`.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// Removes spaces before punctuation and before English endings ("do n't"), like clean_up_tokenization of transformers
// 5.23.
std::string clean_up_spaces(std::string text);

// The decoders of tokenizer.json, under their names there. Each equals that of Hugging Face's tokenizers 0.23.
namespace piece_decoders {

// Applies `parts` in order.
PieceDecoder sequence(std::vector<PieceDecoder> parts);

struct MetaspaceOptions {
  std::string replacement = "▁";  // one character
  bool keep_first = false;        // keep the space of the first piece (true with PrependScheme::never)
};
// Replaces `replacement` by a space; in the first piece removes it, unless `keep_first` is set.
PieceDecoder metaspace(MetaspaceOptions options);
// Turns characters of byte-level vocabularies back into bytes, and joins the pieces. Invalid UTF-8 becomes U+FFFD.
void byte_level(std::vector<std::string>& pieces);
// Appends the bytes of one such piece. A piece with a character that is not one of byte_character() is appended
// unchanged.
void append_piece_bytes(std::string_view piece, std::string& bytes);

struct WordPieceOptions {
  std::string prefix = "##";
  bool clean_up = true;
};
// Changes each piece but the first: removes the prefix if it has one, else puts a space in front.
PieceDecoder word_piece(WordPieceOptions options);
// Replaces the suffix by a space; removes it in the last piece.
PieceDecoder bpe(std::string suffix);
// Replaces every match by `content`.
PieceDecoder replace(Pattern pattern, std::string content);
// Joins each run of pieces <0xNN> into the text of these bytes, or into one U+FFFD per byte if they are not UTF-8.
void byte_fallback(std::vector<std::string>& pieces);
// Joins all pieces into one.
void fuse(std::vector<std::string>& pieces);

struct StripOptions {
  std::string content = " ";  // one character
  std::size_t start = 0;      // maximum number to remove at the beginning of each piece
  std::size_t stop = 0;       // maximum number to remove at the end of each piece
};
// Removes `content` at the ends of each piece.
PieceDecoder strip(StripOptions options);

}  // namespace piece_decoders
}  // namespace encdec
