#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace encdec {

// Hashes a string and a view of it alike, so that a map of strings can be asked with a view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

// What a map has for a key; nullopt if it has nothing.
template <typename Map, typename Key>
std::optional<typename Map::mapped_type> value_of(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found != map.end() ? std::optional(found->second) : std::nullopt;
}

// Takes the pieces of a text one after another; nothing keeps all of them.
using PieceSink = std::function<void(std::string_view piece)>;

// One past the largest id that a tokenizer's files may give: far above any vocabulary, far below what would make ids
// wrap.
inline constexpr std::int32_t kMaxTokenIds = 10'000'000;
// What files of vocabularies may hold: more is none.
inline constexpr std::size_t kMaxVocabularyBytes = 32u << 20;  // 256,000 pieces of large models: some 6 MB
inline constexpr std::size_t kMaxPieces = 1'000'000;           // XLM-V, the largest, has 901,629
inline constexpr std::size_t kMaxPieceBytes = 1024;            // they are searched from every character on
inline constexpr std::size_t kMaxTokenBytes = 1024;            // of those added to them: from every byte on

// The pieces of text that a model knows, and the id of each: a vocab.json file, {"piece": id, ...}.
class Vocabulary {
 public:
  // Throws FileError if the file is not JSON, TokenizerError, naming the piece, if it is not an object of integers from
  // 0 to kMaxTokenIds - 1, if a piece or an id is there twice, or if there are more than kMaxPieces.
  static Vocabulary read(const std::filesystem::path& path);
  // The same for a file's content; `name` is for messages.
  static Vocabulary parse(std::string_view json, const std::string& name);

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  // Throws TokenizerError, beginning with `name`, unless both are new, there is room, and the id is from 0 to
  // kMaxTokenIds - 1.
  void add(std::string_view piece, std::int32_t id, const std::string& name);

  // Small: there may be a million.
  struct Entry {
    std::string_view piece() const { return {text, size}; }

    const char* text;
    std::uint32_t size;
    std::int32_t id;
  };
  // In the order in which they were added. Pieces stay where they are as long as there is the vocabulary.
  const std::deque<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  std::optional<std::int32_t> id(std::string_view piece) const;
  // Throws TokenizerError, beginning with `name`, for a piece of more than kMaxPieceBytes.
  void expect_short_pieces(const std::string& name) const;
  // Nothing for an id that no piece has.
  std::optional<std::string_view> piece(std::int32_t id) const;

 private:
  class Reader;
  // Numbers of entries, each at the first free place from where the hash of its key is; the size is a power of two.
  using Table = std::vector<std::int32_t>;

  template <typename Key>
  std::size_t place(const Table& table, Key key) const;
  template <typename Key>
  const Entry* find(const Table& table, Key key) const;
  void grow();
  std::string_view kept(std::string_view piece);

  std::deque<std::string> texts_;  // pieces one behind the other, each text as large as it was at first
  std::deque<Entry> entries_;
  Table by_piece_;
  Table by_id_;
};

}  // namespace encdec
