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

// A transparent hash, so that a map of strings can be searched with a string_view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

// Returns the value of a key, or nullopt if the map lacks the key.
template <typename Map, typename Key>
std::optional<typename Map::mapped_type> value_of(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found != map.end() ? std::optional(found->second) : std::nullopt;
}

// A callback that receives the subwords of a text in order, one per call. (Names call a subword a "piece", like
// sentencepiece.)
using PieceSink = std::function<void(std::string_view piece)>;

// Exclusive upper bound of token ids: far above the size of any vocabulary, far below overflow.
inline constexpr std::int32_t kMaxTokenIds = 10'000'000;
// Upper bounds; a vocabulary file with a larger value is assumed to be damaged.
inline constexpr std::size_t kMaxVocabularyBytes = 32u << 20;  // 256,000 subwords of a large model need about 6 MB
inline constexpr std::size_t kMaxPieces = 1'000'000;           // XLM-V, the largest, has 901,629
inline constexpr std::size_t kMaxPieceBytes = 1024;            // matching starts at every character
inline constexpr std::size_t kMaxTokenBytes = 1024;            // added tokens: matching starts at every byte

// The subwords of a model and their ids.
class Vocabulary {
 public:
  // Reads a vocab.json file: {"subword": id, ...}. Throws FileError if the file is not JSON. Throws TokenizerError,
  // naming the subword, if
  // - the file is not an object of integers from 0 to kMaxTokenIds - 1
  // - two entries have the same subword or the same id
  // - there are more than kMaxPieces
  static Vocabulary read(const std::filesystem::path& path);
  // Parses the content of such a file. Error messages begin with `name`.
  static Vocabulary parse(std::string_view json, const std::string& name);

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  // Adds a subword. Throws TokenizerError, beginning with `name`, if the subword or the id exists already, if the
  // vocabulary is full (kMaxPieces), or if the id is not from 0 to kMaxTokenIds - 1.
  void add(std::string_view piece, std::int32_t id, const std::string& name);

  // A subword and its id. An entry has only 16 bytes, because a vocabulary can have a million entries.
  struct Entry {
    std::string_view piece() const { return {text, size}; }

    const char* text;
    std::uint32_t size;
    std::int32_t id;
  };
  // Returns the entries in the order of their addition. Views of subwords remain valid until the vocabulary is
  // destroyed.
  const std::deque<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  std::optional<std::int32_t> id(std::string_view piece) const;
  // Throws TokenizerError, beginning with `name`, if a subword has more than kMaxPieceBytes.
  void expect_short_pieces(const std::string& name) const;
  // Returns nullopt if no subword has this id.
  std::optional<std::string_view> piece(std::int32_t id) const;

 private:
  class Reader;
  // A hash table of indices into entries_: linear probing, a size that is a power of two.
  using Table = std::vector<std::int32_t>;

  template <typename Key>
  std::size_t slot(const Table& table, Key key) const;
  template <typename Key>
  const Entry* find(const Table& table, Key key) const;
  void grow();
  std::string_view kept(std::string_view piece);

  // The concatenated texts of all subwords. Strings are never reallocated, so views stay valid.
  std::deque<std::string> texts_;
  std::deque<Entry> entries_;
  Table by_piece_;
  Table by_id_;
};

}  // namespace encdec
