#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

namespace encdec {

// Makes pieces into text: rewrites the pieces of a text, which is what they are then, one after another. Throws
// TokenizerError if they become longer than kMaxRewrittenBytes, or a pattern takes too many steps. May be used from
// many threads at once.
using PieceDecoder = std::function<void(std::vector<std::string>& pieces)>;

// The text with `to` for every `from`.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// No space before punctuation and the endings of English verbs ("do n't"): clean_up_tokenization of transformers 5.23.
std::string clean_up_spaces(std::string text);

// The kinds that tokenizer.json knows, by their names there. Each is what Hugging Face's tokenizers 0.23 does.
namespace piece_decoders {

// One after another.
PieceDecoder sequence(std::vector<PieceDecoder> parts);

struct MetaspaceOptions {
  std::string replacement = "▁";  // one character
  bool keep_first = false;        // the first piece's replacement becomes a space too: with PrependScheme::never
};
PieceDecoder metaspace(MetaspaceOptions options);
// Characters of byte-level vocabularies become bytes again; what is not UTF-8 then becomes U+FFFD.
void byte_level(std::vector<std::string>& pieces);
// The bytes of one. A piece with any other character than those of byte-level vocabularies is taken as it stands.
void append_piece_bytes(std::string_view piece, std::string& bytes);

struct WordPieceOptions {
  std::string prefix = "##";
  bool clean_up = true;
};
PieceDecoder word_piece(WordPieceOptions options);
// The suffix becomes a space, but nothing in the last piece.
PieceDecoder bpe(std::string suffix);
// Every match becomes `content`.
PieceDecoder replace(Pattern pattern, std::string content);
// Pieces <0xNN> in a row become the text of those bytes, or U+FFFD for each if they are not UTF-8.
void byte_fallback(std::vector<std::string>& pieces);
// All pieces become one.
void fuse(std::vector<std::string>& pieces);

struct StripOptions {
  std::string content = " ";  // one character
  std::size_t start = 0;      // at most so many at the beginning of each piece
  std::size_t stop = 0;       // at most so many at its end
};
PieceDecoder strip(StripOptions options);

}  // namespace piece_decoders
}  // namespace encdec
