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

// Pieces by number, where a piece may be there more than once: the first counts.
class PieceList {
 public:
  // A JSON list of strings.
  static PieceList parse_json(std::string_view json, const std::string& name);
  // A piece a line. Lines end with "\r\n" only if all of them do.
  static PieceList parse_lines(std::string_view text, const std::string& name);
  // Those; the index is the number.
  explicit PieceList(std::vector<std::string> pieces);

  // Gives the piece the next id, unless it has one.
  void require(const std::string& piece);

  std::size_t size() const { return pieces_.size(); }
  std::optional<std::int32_t> id(std::string_view piece) const { return value_of(ids_, piece); }
  // Null for an id that no piece has.
  const std::string* piece(std::int32_t id) const;

 private:
  std::vector<std::string> pieces_;  // empty where there is none
  StringMap<std::int32_t> ids_;
};

// What CTranslate2's folders call the tokens and what they put around a source (see token_settings); Marian's are the
// defaults but for add_source_eos.
struct PlainOptions {
  std::string unknown_token = "<unk>";
  std::string begin_token = "<s>";
  std::string end_token = "</s>";
  std::string start_token = "<s>";  // of the decoder
  bool add_source_begin = false;
  bool add_source_end = false;
};

// For folders with a vocabulary and no tokenizer: a text is pieces with spaces between. Pieces that the vocabulary
// lacks are unknown. Without `target`, both sides have the same vocabulary.
std::unique_ptr<Tokenizer> plain_tokenizer(PieceList source, std::optional<PieceList> target, PlainOptions options);

// That of CTranslate2's folders: shared_vocabulary, or source_vocabulary and target_vocabulary, or vocabulary, each
// .json or .txt. Null if the folder has none of them; throws TokenizerError if it has only one of the two, and
// FileError for a damaged model.bin, which tells of tokens in old folders.
std::unique_ptr<Tokenizer> load_ctranslate2_tokenizer(const std::filesystem::path& folder);

}  // namespace encdec
