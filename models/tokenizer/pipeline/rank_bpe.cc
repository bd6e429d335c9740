#include "encdec/models/tokenizer/pipeline/rank_bpe.h"

#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/merge_pairs.h"

namespace encdec {
namespace {

class RankBpe final : public PieceModel {
 public:
  RankBpe(Vocabulary vocabulary, const std::string& name) : vocabulary_(std::move(vocabulary)), name_(name) {
    for (int byte = 0; byte < 256; ++byte) {
      if (vocabulary_.id(byte_character(static_cast<std::uint8_t>(byte)))) continue;
      refuse<TokenizerError>(name, "no token for the byte {:#04x}, expected one for each", byte);
    }
    vocabulary_.expect_short_pieces(name);
  }

  void tokenize(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const override {
    const auto add = [&](std::int32_t id, std::size_t begin, std::size_t end) {
      ids.push_back(id);
      if (parts != nullptr) parts->push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    };
    if (const auto whole = vocabulary_.id(word)) return add(*whole, 0, word.size());
    // The chain has one place for each byte of the word, so a place is also an offset into the word.
    SymbolChain chain(word.size());
    for (std::size_t begin = 0; begin < word.size();) {
      poll_cancelled();
      const std::size_t bytes = first_character(word.substr(begin)).bytes;
      const std::string_view character = word.substr(begin, bytes);
      const auto known = vocabulary_.id(character);
      if (!known) refuse<TokenizerError>(name_, "no token for '{}', expected bytes", printable(character));
      chain.add(*known, bytes);
      begin += bytes;
    }
    using Merge = PairMerge<std::int32_t>;
    merge_pairs<std::int32_t>(chain,
                              [&](std::size_t left, std::size_t /*middle*/, std::size_t end) -> std::optional<Merge> {
                                const auto both = vocabulary_.id(word.substr(left, end - left));
                                return both ? std::optional(Merge{*both, *both}) : std::nullopt;
                              });
    for (std::size_t i = 0; i < chain.places(); i = chain.end(i)) add(chain.symbol(i), i, chain.end(i));
  }

  std::optional<std::int32_t> id(std::string_view piece) const override { return vocabulary_.id(piece); }
  std::optional<std::string_view> piece(std::int32_t id) const override { return vocabulary_.piece(id); }
  std::size_t size() const override { return vocabulary_.size(); }

 private:
  Vocabulary vocabulary_;
  std::string name_;
};

}  // namespace

PieceModelPtr rank_bpe(Vocabulary vocabulary, const std::string& name) {
  return std::make_unique<RankBpe>(std::move(vocabulary), name);
}

std::string byte_level_piece(std::string_view bytes) {
  std::string piece;
  for (const char byte : bytes) piece += byte_character(static_cast<std::uint8_t>(byte));
  return piece;
}

}  // namespace encdec
