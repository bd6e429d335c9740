#include "encdec/models/tokenizer/base/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

constexpr std::int32_t kNoEntry = -1;  // a free slot of a hash table
// Capacity of one string of Vocabulary::texts_.
constexpr std::size_t kTextBytes = std::size_t{16} << 10;

// Return whether an entry has the key of a hash table: a subword in by_piece_, an id in by_id_.
bool has(const Vocabulary::Entry& entry, std::string_view piece) {
  return entry.piece() == piece;
}
bool has(const Vocabulary::Entry& entry, std::int32_t id) {
  return entry.id == id;
}

}  // namespace

// Adds the entries of a vocab.json while it is parsed, without building JSON values.
class Vocabulary::Reader final : public JsonEvents {
 public:
  Reader(Vocabulary& vocabulary, const std::string& name) : JsonEvents(name), vocabulary_(vocabulary) {}

  bool number_unsigned(std::uint64_t value) override {
    if (!is_open_ || value >= std::uint64_t{kMaxTokenIds}) fail(fmt::to_string(value));
    vocabulary_.add(piece_, static_cast<std::int32_t>(value), file());
    return true;
  }
  bool start_object(std::size_t) override {
    if (is_open_) fail("an object");
    return is_open_ = true;
  }
  bool key(std::string& piece) override {
    piece_ = piece;
    return true;
  }
  bool end_object() override { return true; }

  bool null() override { fail("null"); }
  bool boolean(bool) override { fail("boolean"); }
  bool number_integer(std::int64_t value) override { fail(fmt::to_string(value)); }
  bool number_float(double value, const std::string&) override { fail(fmt::to_string(value)); }
  bool string(std::string&) override { fail("a string"); }
  bool start_array(std::size_t) override { fail("an array"); }
  bool end_array() override { return true; }

 private:
  [[noreturn]] void fail(std::string_view found) const {
    if (!is_open_) refuse<TokenizerError>(file(), "{}, expected an object of pieces and ids", found);
    refuse<TokenizerError>(file(), "'{}' is {}, expected an id from 0 to {}", printable(piece_), found,
                           kMaxTokenIds - 1);
  }

  Vocabulary& vocabulary_;
  bool is_open_ = false;
  std::string piece_;
};

void Vocabulary::add(std::string_view piece, std::int32_t id, const std::string& name) {
  if (id < 0 || id >= kMaxTokenIds) {
    refuse<TokenizerError>(name, "'{}' is {}, expected an id from 0 to {}", printable(piece), id, kMaxTokenIds - 1);
  }
  poll_cancelled();
  if (this->id(piece)) refuse<TokenizerError>(name, "'{}' is there twice", printable(piece));
  if (const auto other = this->piece(id)) {
    refuse<TokenizerError>(name, "'{}' and '{}' both have the id {}", printable(*other), printable(piece), id);
  }
  if (entries_.size() == kMaxPieces) refuse<TokenizerError>(name, "more than {} pieces", kMaxPieces);
  if (4 * (entries_.size() + 1) > 3 * by_piece_.size()) grow();  // at most 3/4 full
  const auto number = static_cast<std::int32_t>(entries_.size());
  const std::string_view text = kept(piece);
  entries_.push_back({text.data(), static_cast<std::uint32_t>(text.size()), id});
  by_piece_[slot(by_piece_, text)] = number;
  by_id_[slot(by_id_, id)] = number;
}

// Copies the subword into texts_. Returns a view of the copy.
std::string_view Vocabulary::kept(std::string_view piece) {
  if (texts_.empty() || texts_.back().capacity() - texts_.back().size() < piece.size()) {
    std::string text;
    text.reserve(std::max(kTextBytes, piece.size()));
    texts_.push_back(std::move(text));
  }
  std::string& text = texts_.back();
  text += piece;
  return std::string_view(text).substr(text.size() - piece.size());
}

std::optional<std::int32_t> Vocabulary::id(std::string_view piece) const {
  const Entry* entry = find(by_piece_, piece);
  return entry != nullptr ? std::optional(entry->id) : std::nullopt;
}

void Vocabulary::expect_short_pieces(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.size <= kMaxPieceBytes) continue;
    refuse<TokenizerError>(name, "piece {} has {} bytes, expected at most {}", entry.id, entry.size, kMaxPieceBytes);
  }
}

std::optional<std::string_view> Vocabulary::piece(std::int32_t id) const {
  const Entry* entry = find(by_id_, id);
  return entry != nullptr ? std::optional(entry->piece()) : std::nullopt;
}

// Returns the slot of the entry with this key, or the free slot into which to insert such an entry.
template <typename Key>
std::size_t Vocabulary::slot(const Table& table, Key key) const {
  const std::size_t mask = table.size() - 1;
  std::size_t index = std::hash<Key>()(key) & mask;
  while (table[index] != kNoEntry && !has(entries_[static_cast<std::size_t>(table[index])], key)) {
    index = (index + 1) & mask;
  }
  return index;
}

template <typename Key>
const Vocabulary::Entry* Vocabulary::find(const Table& table, Key key) const {
  if (table.empty()) return nullptr;
  const std::int32_t number = table[slot(table, key)];
  return number == kNoEntry ? nullptr : &entries_[static_cast<std::size_t>(number)];
}

// Doubles the hash tables and inserts all entries again.
void Vocabulary::grow() {
  constexpr std::size_t kFewest = 64;
  const std::size_t size = std::max(kFewest, 2 * by_piece_.size());
  for (Table* table : {&by_piece_, &by_id_}) {
    *table = Table();  // frees the old table before the new one is allocated
    table->assign(size, kNoEntry);
  }
  std::int32_t number = 0;
  for (const Entry& entry : entries_) {
    by_piece_[slot(by_piece_, entry.piece())] = number;
    by_id_[slot(by_id_, entry.id)] = number++;
  }
}

Vocabulary Vocabulary::read(const std::filesystem::path& path) {
  return parse(read_text_file(path, kMaxVocabularyBytes), path.string());
}

Vocabulary Vocabulary::parse(std::string_view json, const std::string& name) {
  Vocabulary vocabulary;
  Reader reader(vocabulary, name);
  read_json_events(json, reader);
  return vocabulary;
}

}  // namespace encdec
