#include "encdec/models/tokenizer/pipeline/piece_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/best_cut.h"
#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/merge_pairs.h"

namespace encdec::piece_models {
namespace {

// Appends the ids of the tokens <0xNN> for the bytes of `text`. If a token is missing, only returns false.
bool append_byte_pieces(std::string_view text, const PieceModel& model, std::vector<std::int32_t>& ids) {
  const std::size_t before = ids.size();
  for (const char byte : text) {
    poll_cancelled();
    const auto id = model.id(byte_piece(static_cast<std::uint8_t>(byte)));
    if (!id) {
      ids.resize(before);
      return false;
    }
    ids.push_back(*id);
  }
  return true;
}

// Appends the range [begin, begin + bytes) of a word `ids` times, once for each id of this range.
void append_parts(std::vector<ByteSpan>* parts, std::size_t begin, std::size_t bytes, std::size_t ids = 1) {
  if (parts == nullptr) return;
  parts->insert(parts->end(), ids, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + bytes)});
}

class Unigram final : public PieceModel {
 public:
  Unigram(UnigramOptions options, const std::string& name) : options_(std::move(options)), name_(name) {
    const auto& [pieces, unknown_id, byte_fallback] = options_;
    if (pieces.size() > static_cast<std::size_t>(kMaxTokenIds)) {
      refuse<TokenizerError>(name, "{} pieces, expected at most {}", pieces.size(), kMaxTokenIds);
    }
    if (unknown_id && (*unknown_id < 0 || static_cast<std::size_t>(*unknown_id) >= pieces.size())) {
      refuse<TokenizerError>(name, "unk_id is {}, expected one of {} pieces", *unknown_id, pieces.size());
    }
    constexpr double kUnknownPenalty = 10;  // kUnkPenalty of sentencepiece
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t id = 0; id < pieces.size(); ++id) {
      poll_cancelled();
      const auto& [text, score] = pieces[id];
      if (text.size() > kMaxPieceBytes || !std::isfinite(score)) {
        refuse<TokenizerError>(name, "piece {} has {} bytes and the score {}, expected at most {} and a number", id,
                               text.size(), score, kMaxPieceBytes);
      }
      lowest = std::min(lowest, score);
      trie_.insert(text, static_cast<std::int32_t>(id));
    }
    unknown_score_ = lowest - kUnknownPenalty;
  }

  void tokenize(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const override {
    // Split the word. Emit each known subword, and each run of unknown characters.
    const auto score_of = [&](std::int32_t id, std::size_t) {
      return std::optional(options_.pieces[static_cast<std::size_t>(id)].score);
    };
    const auto unknown_id = options_.unknown_id;
    const auto unknown = [&](std::string_view character) {
      if (unknown_id) return unknown_score_;
      refuse<TokenizerError>(name_, "no piece for '{}', and no unk_id", printable(character));
    };
    const auto add_parts = [&](std::string_view piece, std::size_t count) {
      append_parts(parts, static_cast<std::size_t>(piece.data() - word.data()), piece.size(), count);
    };
    const auto take_unknown = [&](std::string_view piece) {
      const std::size_t before = ids.size();
      append(piece, ids);
      add_parts(piece, ids.size() - before);
    };
    std::string_view unknowns;  // the current run of unknown characters, which is emitted as one token
    best_cut<double>(word, trie_, score_of, unknown, [&](std::string_view piece) {
      const auto known = trie_.find(piece);
      if (!known || known == unknown_id) {
        unknowns = unknowns.empty() ? piece : std::string_view(unknowns.data(), unknowns.size() + piece.size());
        return;
      }
      if (!unknowns.empty()) take_unknown(std::exchange(unknowns, {}));
      ids.push_back(*known);
      add_parts(piece, 1);
    });
    if (!unknowns.empty()) take_unknown(unknowns);
  }

  std::optional<std::int32_t> id(std::string_view piece) const override { return trie_.find(piece); }
  std::optional<std::string_view> piece(std::int32_t id) const override {
    if (id < 0 || static_cast<std::size_t>(id) >= size()) return std::nullopt;
    return options_.pieces[static_cast<std::size_t>(id)].text;
  }
  std::size_t size() const override { return options_.pieces.size(); }

 private:
  void append(std::string_view piece, std::vector<std::int32_t>& ids) const {  // adds a run of unknown characters
    if (const auto known = trie_.find(piece)) return ids.push_back(*known);
    if (options_.byte_fallback && append_byte_pieces(piece, *this, ids)) return;
    ids.push_back(options_.unknown_id.value());
  }

  UnigramOptions options_;
  std::string name_;
  double unknown_score_;
  ByteTrie trie_;
};

// The base class of models with an options.vocabulary.
template <typename Options>
class VocabularyModel : public PieceModel {
 public:
  // Error messages begin with `name`.
  VocabularyModel(Options options, std::string name) : options_(std::move(options)), name_(std::move(name)) {}

  std::optional<std::int32_t> id(std::string_view piece) const final { return options_.vocabulary.id(piece); }
  std::optional<std::string_view> piece(std::int32_t id) const final { return options_.vocabulary.piece(id); }
  std::size_t size() const final { return options_.vocabulary.size(); }

 protected:
  // Returns the id of the unknown token. Throws TokenizerError if the vocabulary lacks that token.
  std::int32_t unknown_id(std::string_view token) const {
    if (const auto found = id(token)) return *found;
    refuse<TokenizerError>(name_, "the unknown token '{}' is not in the vocabulary", printable(token));
  }

  Options options_;
  std::string name_;
};

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

class Bpe final : public VocabularyModel<BpeOptions> {
 public:
  Bpe(BpeOptions options, const std::string& name) : VocabularyModel(std::move(options), name) {
    // Convert the merges to ids, and free their texts.
    const Merges list = std::exchange(options_.merges, {});
    merges_.reserve(list.size());
    std::string whole;
    for (std::uint32_t rank = 0; rank < list.size(); ++rank) {
      poll_cancelled();
      const std::string& left = list[rank].first;
      const std::string& right = list[rank].second;
      const auto id_of = [&](std::string_view piece) {
        if (const auto found = id(piece)) return *found;
        refuse<TokenizerError>(name, "merge {} of '{}' and '{}': '{}' is not in the vocabulary", rank, printable(left),
                               printable(right), printable(piece));
      };
      const std::int32_t left_id = id_of(left);
      const std::int32_t right_id = id_of(right);
      // The right part begins with the prefix. In the middle of the merged subword, there is no prefix.
      const std::string& prefix = options_.continuing_subword_prefix;
      if (right.size() < prefix.size()) {
        refuse<TokenizerError>(name, "merge {}: '{}' is shorter than the prefix '{}'", rank, printable(right),
                               printable(prefix));
      }
      whole.assign(left).append(right, prefix.size());
      merges_[pair_key(left_id, right_id)] = {rank, id_of(whole)};
    }
  }

  void tokenize(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const override {
    if (options_.ignore_merges) {
      if (const auto whole = id(word)) {
        append_parts(parts, 0, word.size());
        return ids.push_back(*whole);
      }
    }
    std::vector<std::uint32_t> bytes;
    SymbolChain chain = symbols(word, parts != nullptr ? &bytes : nullptr);
    merge_pairs<std::uint32_t>(chain, [&](std::size_t left, std::size_t middle, std::size_t /*end*/) {
      return value_of(merges_, pair_key(chain.symbol(left), chain.symbol(middle)));
    });
    // Reserve only if the word has more tokens than `ids`. A call for every word would copy `ids` every time.
    if (chain.symbols() > ids.size()) ids.reserve(ids.size() + chain.symbols());
    // Emit the ids. The range of a symbol is the total size of the characters that were merged into it.
    std::size_t begin = 0;
    for (std::size_t i = 0; i < chain.slots(); i = chain.end(i)) {
      ids.push_back(chain.symbol(i));
      if (parts == nullptr) continue;
      const std::size_t size = std::accumulate(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                                               bytes.begin() + static_cast<std::ptrdiff_t>(chain.end(i)), 0u);
      append_parts(parts, begin, size);
      begin += size;
    }
  }

 private:
  using Merge = PairMerge<std::uint32_t>;

  // Returns the characters of a word as symbols. Adds an unknown character late, because the next character may be
  // fused with it. Unless null, `sizes` receives the size of each symbol in bytes. As in tokenizers, dropped characters
  // have no size, which moves the ranges of later characters to the front.
  SymbolChain symbols(std::string_view word, std::vector<std::uint32_t>* sizes) const {
    const std::string& prefix = options_.continuing_subword_prefix;
    const std::string& suffix = options_.end_of_word_suffix;
    const std::optional<std::string>& unknown_token = options_.unknown_token;
    SymbolChain result(word.size());
    std::vector<std::int32_t> bytes;
    std::size_t unknown_bytes = 0;  // size of the unknown characters that have not been added
    std::string decorated;
    const auto add = [&](std::int32_t symbol, std::size_t size) {
      result.add(symbol);
      if (sizes != nullptr) sizes->push_back(static_cast<std::uint32_t>(size));
    };
    const auto add_unknown = [&] {
      if (unknown_bytes > 0) add(unknown_id(*unknown_token), std::exchange(unknown_bytes, 0));
    };
    for (std::size_t begin = 0, end = 0; begin < word.size(); begin = end) {
      poll_cancelled();
      // Add the prefix unless the character is the first one. Add the suffix if the character is the last one.
      end = begin + first_character(word.substr(begin)).bytes;
      std::string_view symbol = word.substr(begin, end - begin);
      const bool has_prefix = begin > 0 && !prefix.empty();
      const bool has_suffix = end == word.size() && !suffix.empty();
      if (has_prefix || has_suffix) {
        decorated.assign(has_prefix ? prefix : "").append(symbol);
        if (has_suffix) decorated += suffix;
        symbol = decorated;
      }
      // Use the symbol's token, else its byte tokens, else the unknown token.
      if (const auto known = id(symbol)) {
        add_unknown();
        add(*known, end - begin);
      } else if (options_.byte_fallback && append_byte_pieces(symbol, *this, bytes)) {
        for (const std::int32_t byte : std::exchange(bytes, {})) add(byte, 1);
      } else if (unknown_token) {
        if (!options_.fuse_unknown) add_unknown();
        unknown_bytes += end - begin;
        unknown_id(*unknown_token);  // throws if the vocabulary lacks the token
      }
    }
    add_unknown();
    return result;
  }

  std::unordered_map<std::uint64_t, Merge> merges_;  // the key combines the ids of both parts
};

class WordPiece final : public VocabularyModel<WordPieceOptions> {
 public:
  WordPiece(WordPieceOptions options, const std::string& name) : VocabularyModel(std::move(options), name) {
    options_.vocabulary.expect_short_pieces(name);
    for (const Vocabulary::Entry& entry : options_.vocabulary.entries()) trie_.insert(entry.piece(), entry.id);
    continuing_ = trie_.walk(ByteTrie::kRoot, options_.continuing_subword_prefix);
  }

  void tokenize(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const override {
    const std::size_t before = ids.size(), parts_before = parts == nullptr ? 0 : parts->size();
    if (cut(word, ids, parts)) return;
    ids.resize(before);
    ids.push_back(unknown_id(options_.unknown_token));
    if (parts != nullptr) parts->resize(parts_before);
    append_parts(parts, 0, word.size());
  }

 private:
  // Appends the subwords of a word. Returns false if the word is too long or cannot be split.
  bool cut(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const {
    std::size_t characters = 0;
    for (std::size_t position = 0; position < word.size(); ++characters) {
      if (characters == options_.max_word_characters) return false;
      position += first_character(word.substr(position)).bytes;
    }
    for (std::size_t begin = 0; begin < word.size();) {
      poll_cancelled();
      const ByteTrie::Node node = begin == 0 ? ByteTrie::kRoot : continuing_;
      const ByteTrie::Match longest = trie_.longest(word.substr(begin), node);
      if (longest.value < 0) return false;
      ids.push_back(longest.value);
      append_parts(parts, begin, longest.bytes);
      begin += longest.bytes;
    }
    return true;
  }

  ByteTrie trie_;
  ByteTrie::Node continuing_;  // the node after continuing_subword_prefix
};

class WordLevel final : public VocabularyModel<WordLevelOptions> {
 public:
  using VocabularyModel::VocabularyModel;

  void tokenize(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const override {
    auto found = id(word);
    if (!found) found = id(options_.unknown_token);
    if (!found) {
      refuse<TokenizerError>(name_, "neither '{}' nor the unknown token '{}' is in the vocabulary", printable(word),
                             printable(options_.unknown_token));
    }
    ids.push_back(*found);
    append_parts(parts, 0, word.size());
  }
};

struct RankBpeOptions {
  Vocabulary vocabulary;
};

class RankBpe final : public VocabularyModel<RankBpeOptions> {
 public:
  RankBpe(Vocabulary vocabulary, const std::string& name) : VocabularyModel({std::move(vocabulary)}, name) {
    for (int byte = 0; byte < 256; ++byte) {
      if (id(byte_character(static_cast<std::uint8_t>(byte)))) continue;
      refuse<TokenizerError>(name, "no token for the byte {:#04x}, expected one for each", byte);
    }
    options_.vocabulary.expect_short_pieces(name);
  }

  void tokenize(std::string_view word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* parts) const override {
    if (const auto whole = id(word)) {
      append_parts(parts, 0, word.size());
      return ids.push_back(*whole);
    }
    // A slot of the chain is a byte of the word.
    SymbolChain chain(word.size());
    for (std::size_t begin = 0; begin < word.size(); begin = chain.slots()) {
      poll_cancelled();
      const std::string_view character = word.substr(begin, first_character(word.substr(begin)).bytes);
      const auto known = id(character);
      if (!known) refuse<TokenizerError>(name_, "no token for '{}', expected bytes", printable(character));
      chain.add(*known, character.size());
    }
    // The id of the result is both the symbol and the rank of a merge.
    using Merge = PairMerge<std::int32_t>;
    merge_pairs<std::int32_t>(chain,
                              [&](std::size_t left, std::size_t /*middle*/, std::size_t end) -> std::optional<Merge> {
                                const auto both = id(word.substr(left, end - left));
                                return both ? std::optional(Merge{*both, *both}) : std::nullopt;
                              });
    for (std::size_t i = 0; i < chain.slots(); i = chain.end(i)) {
      ids.push_back(chain.symbol(i));
      append_parts(parts, i, chain.end(i) - i);
    }
  }
};

}  // namespace

PieceModelPtr unigram(UnigramOptions options, const std::string& name) {
  return std::make_unique<Unigram>(std::move(options), name);
}

PieceModelPtr bpe(BpeOptions options, const std::string& name) {
  return std::make_unique<Bpe>(std::move(options), name);
}

PieceModelPtr word_piece(WordPieceOptions options, const std::string& name) {
  return std::make_unique<WordPiece>(std::move(options), name);
}

PieceModelPtr word_level(WordLevelOptions options, const std::string& name) {
  return std::make_unique<WordLevel>(std::move(options), name);
}

PieceModelPtr rank_bpe(Vocabulary vocabulary, const std::string& name) {
  return std::make_unique<RankBpe>(std::move(vocabulary), name);
}

}  // namespace encdec::piece_models
