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

// A hash that is equal for a string and a view of it, so that a map of strings can be searched with a view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

// Returns the map's value for the key, or nullopt if there is none.
template <typename Map, typename Key>
std::optional<typename Map::mapped_type> value_of(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found != map.end() ? std::optional(found->second) : std::nullopt;
}

// A callback that receives the pieces of a text in order, one per call, so that no list of all pieces is needed.
using PieceSink = std::function<void(std::string_view piece)>;

// One past the largest token id that a tokenizer's files may contain: far above any vocabulary, far below overflow.
inline constexpr std::int32_t kMaxTokenIds = 10'000'000;
// Upper bounds for a vocabulary file; a larger value is taken for damage.
inline constexpr std::size_t kMaxVocabularyBytes = 32u << 20;  // 256,000 pieces of a large model need about 6 MB
inline constexpr std::size_t kMaxPieces = 1'000'000;           // XLM-V, the largest, has 901,629
inline constexpr std::size_t kMaxPieceBytes = 1024;            // bounds the search, which starts at every character
inline constexpr std::size_t kMaxTokenBytes = 1024;            // added tokens: their search starts at every byte

// The pieces of text that a model knows, and their ids.
class Vocabulary {
 public:
  // Reads a vocab.json file: {"piece": id, ...}. Throws FileError if the file is not JSON. Throws TokenizerError,
  // naming the piece, if
  // - the file is not an object of integers from 0 to kMaxTokenIds - 1
  // - two entries have the same piece or the same id
  // - there are more than kMaxPieces
  static Vocabulary read(const std::filesystem::path& path);
  // Parses the content of such a file. `name` is for messages.
  static Vocabulary parse(std::string_view json, const std::string& name);

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  // Adds a piece. Throws TokenizerError, beginning with `name`, if the vocabulary has the piece or the id already, has
  // kMaxPieces, or if the id is not from 0 to kMaxTokenIds - 1.
  void add(std::string_view piece, std::int32_t id, const std::string& name);

  // A piece and its id. Kept to 16 bytes, because a vocabulary can have a million entries.
  struct Entry {
    std::string_view piece() const { return {text, size}; }

    const char* text;
    std::uint32_t size;
    std::int32_t id;
  };
  // Returns the entries in the order in which they were added. Views of pieces are valid until the vocabulary is
  // destroyed.
  const std::deque<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  std::optional<std::int32_t> id(std::string_view piece) const;
  // Throws TokenizerError, beginning with `name`, if a piece has more than kMaxPieceBytes.
  void expect_short_pieces(const std::string& name) const;
  // Returns nullopt if no piece has this id.
  std::optional<std::string_view> piece(std::int32_t id) const;

 private:
  class Reader;
  // A hash table of indices into entries_, with linear probing. Its size is a power of two.
  using Table = std::vector<std::int32_t>;

  template <typename Key>
  std::size_t place(const Table& table, Key key) const;
  template <typename Key>
  const Entry* find(const Table& table, Key key) const;
  void grow();
  std::string_view kept(std::string_view piece);

  // The texts of all pieces, one after another in each string. A string is never reallocated, so pieces do not move.
  std::deque<std::string> texts_;
  std::deque<Entry> entries_;
  Table by_piece_;
  Table by_id_;
};

}  // namespace encdec
