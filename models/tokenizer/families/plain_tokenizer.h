#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {

// A list of pieces; the id of a piece is its index. If a piece occurs more than once, id() returns its first index.
class PieceList {
 public:
  // Reads a file of CTranslate2: a JSON list if its name ends with .json, else lines.
  static PieceList read(const std::filesystem::path& path);
  // Parses a JSON list of strings.
  static PieceList parse_json(std::string_view json, const std::string& name);
  // Parses one piece per line. If all lines end with "\r\n", removes the "\r".
  static PieceList parse_lines(std::string_view text, const std::string& name);
  explicit PieceList(std::vector<std::string> pieces);

  // Appends the piece, unless the list has it.
  void require(const std::string& piece);

  std::size_t size() const { return pieces_.size(); }
  std::optional<std::int32_t> id(std::string_view piece) const { return value_of(ids_, piece); }
  // Returns null if there is no piece with this id.
  const std::string* piece(std::int32_t id) const;

 private:
  std::vector<std::string> pieces_;  // an empty string has no id
  StringMap<std::int32_t> ids_;
};

// The names of the special tokens and the tokens around a source, as in the settings of CTranslate2's folders (see
// token_settings()). The defaults are those of Marian, which however sets add_source_end.
struct PlainOptions {
  std::string unknown_token = "<unk>";
  std::string begin_token = "<s>";
  std::string end_token = "</s>";
  std::string start_token = "<s>";  // first token of the decoder
  bool add_source_begin = false;
  bool add_source_end = false;
};

// Creates a tokenizer for a folder that has a vocabulary but no tokenizer. A text must be pieces separated by spaces.
// Pieces that the vocabulary lacks become the unknown token. Without `target`, both sides use `source`.
std::unique_ptr<Tokenizer> plain_tokenizer(PieceList source, std::optional<PieceList> target, PlainOptions options);

// Loads the plain tokenizer of a CTranslate2 folder from the first of these that exists, as .json or .txt:
// shared_vocabulary, source_vocabulary and target_vocabulary, vocabulary. Returns null if none exists. Throws
// TokenizerError if only one of source_vocabulary and target_vocabulary exists. Throws FileError if model.bin, which
// holds the token settings of old folders, is damaged.
std::unique_ptr<Tokenizer> load_ctranslate2_tokenizer(const std::filesystem::path& folder);

// Creates Whisper's tokenizer from a vocabulary of CTranslate2: pieces as byte-level vocabularies write them, then the
// names of special tokens, from "<|endoftext|>" on. The id of a piece is also its rank as a merge. Returns null if it
// is not a vocabulary of Whisper. Throws TokenizerError, beginning with `name`, if a byte has no piece, or a piece or
// name occurs twice.
std::unique_ptr<Tokenizer> whisper_tokenizer(const PieceList& pieces, const std::string& name);

// Loads the tokenizer of a folder of CTranslate2 from its vocabulary.json or vocabulary.txt. Returns null if there is
// no vocabulary of Whisper.
std::unique_ptr<Tokenizer> load_whisper_tokenizer(const std::filesystem::path& folder);

}  // namespace encdec
