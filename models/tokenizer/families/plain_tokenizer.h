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

// A list of subwords whose ids are their indices. id() returns the first index of a repeated subword.
class PieceList {
 public:
  // Reads a CTranslate2 vocabulary: a JSON list of strings if the name ends with .json, else lines.
  static PieceList read(const std::filesystem::path& path);
  static PieceList parse_json(std::string_view json, const std::string& name);
  // Parses one subword per line. Removes "\r" if every line ends with "\r\n".
  static PieceList parse_lines(std::string_view text, const std::string& name);
  explicit PieceList(std::vector<std::string> pieces);

  void require(const std::string& piece);  // appends the subword if the list lacks it

  std::size_t size() const { return pieces_.size(); }
  std::optional<std::int32_t> id(std::string_view piece) const { return value_of(ids_, piece); }
  const std::string* piece(std::int32_t id) const;  // null if no subword has this id

 private:
  std::vector<std::string> pieces_;  // an empty string has no id
  StringMap<std::int32_t> ids_;
};

// The special tokens of a CTranslate2 folder's settings, and whether they are added to a source. The defaults equal
// Marian's except for add_source_end, which Marian sets.
struct PlainOptions {
  std::string unknown_token = "<unk>";
  std::string begin_token = "<s>";
  std::string end_token = "</s>";
  std::string start_token = "<s>";  // first token of the decoder
  bool add_source_begin = false;
  bool add_source_end = false;
};

// Creates a tokenizer for a folder that has a vocabulary but no tokenizer. A text consists of subwords separated by
// spaces. Subwords that the vocabulary lacks become the unknown token. Without `target`, both sides use `source`.
std::unique_ptr<Tokenizer> plain_tokenizer(PieceList source, std::optional<PieceList> target, PlainOptions options);

// Loads the plain tokenizer of a CTranslate2 folder from the first of these vocabularies, as .json or .txt:
// - shared_vocabulary
// - source_vocabulary and target_vocabulary; throws TokenizerError if there is only one of them
// - vocabulary
// Returns null if there are none. Throws FileError if model.bin, which contains an old folder's settings, is damaged.
std::unique_ptr<Tokenizer> load_ctranslate2_tokenizer(const std::filesystem::path& folder);

// Creates Whisper's tokenizer from a CTranslate2 vocabulary: byte-level subwords, then special tokens from
// "<|endoftext|>" on. The id of a subword is also its rank as a merge. Returns null if it is not a Whisper vocabulary.
// Throws TokenizerError, beginning with `name`, if a byte has no subword, or a subword or special token occurs twice.
std::unique_ptr<Tokenizer> whisper_tokenizer(const PieceList& pieces, const std::string& name);

// Loads vocabulary.json or vocabulary.txt of a CTranslate2 folder. Returns null if neither is a Whisper vocabulary.
std::unique_ptr<Tokenizer> load_whisper_tokenizer(const std::filesystem::path& folder);

}  // namespace encdec
