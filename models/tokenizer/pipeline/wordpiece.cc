#include "encdec/models/tokenizer/pipeline/wordpiece.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
WordPiece::WordPiece(Options options, const std::string& name)
    : VocabularyModel(std::move(options.vocabulary), name),
      unknown_token_(std::move(options.unknown_token)),
      max_word_characters_(options.max_word_characters) {
  for (const auto& [piece, id] : vocabulary().ids()) {
    if (piece.size() > kMaxPieceBytes) {
      throw TokenizerError(
          fmt::format("{}: piece {} has {} bytes, expected at most {}", name, id, piece.size(), kMaxPieceBytes));
    }
    trie_.insert(piece, id);
  }
  continuing_ = trie_.walk(ByteTrie::kRoot, options.continuing_subword_prefix);
}

void WordPiece::tokenize(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::size_t before = ids.size();
  if (cut(word, ids)) return;
  ids.resize(before);
  ids.push_back(unknown_id(unknown_token_));
}

bool WordPiece::cut(std::string_view word, std::vector<std::int32_t>& ids) const {
  std::size_t characters = 0;
  for (std::size_t position = 0; position < word.size(); ++characters) {
    if (characters == max_word_characters_) return false;
    position += first_character(word.substr(position)).bytes;
  }
  for (std::size_t begin = 0; begin < word.size();) {
    const ByteTrie::Node node = begin == 0 ? ByteTrie::kRoot : continuing_;
    const ByteTrie::Match longest = trie_.longest(word.substr(begin), node);
    if (longest.value < 0) return false;
    ids.push_back(longest.value);
    begin += longest.bytes;
  }
  return true;
}

}  // namespace encdec
