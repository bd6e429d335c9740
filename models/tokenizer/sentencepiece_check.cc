#include "encdec/models/tokenizer/sentencepiece_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "encdec/engine/error.h"
#include "encdec/models/tokenizer/protobuf_fields.h"
#include "encdec/models/tokenizer/utf8.h"
#include "encdec/models/tokenizer/vocabulary.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxSentencePieces = 1'000'000;
constexpr std::size_t kMaxNestedUserPieces = 64;
constexpr std::size_t kMaxUnknownSurfaceBytes = 256;
constexpr std::size_t kMaxOtherFieldBytes = 4u << 20;  // normalisation tables: 0.3 MB; lists of user-defined symbols
constexpr std::uint32_t kUserDefined = 4;

using protobuf::Field;
using protobuf::Fields;

[[noreturn]] void fail(const std::string& name, std::string_view what) {
  throw TokenizerError(fmt::format("{}: not a sentencepiece model: {}", name, what));
}

// The double-array trie of darts-clone that a normalisation table begins with. A unit is 32 bits: the low byte and the
// top bit are the label by which it is entered, bit 8 says that a match ends here, the rest where its children lie.
class NormalizationTrie {
 public:
  NormalizationTrie(std::string_view table, const std::string& name) : name_(name) {
    std::uint32_t trie_bytes = 0;
    if (table.size() < sizeof trie_bytes) fail(name_, "a normalisation table without a size");
    std::memcpy(&trie_bytes, table.data(), sizeof trie_bytes);
    table.remove_prefix(sizeof trie_bytes);
    if (trie_bytes > table.size() || trie_bytes % kBlockBytes != 0) {
      fail(name_, fmt::format("a trie of {} bytes in a table of {}", trie_bytes, table.size()));
    }
    units_.resize(trie_bytes / sizeof(std::uint32_t));
    if (!units_.empty()) std::memcpy(units_.data(), table.data(), trie_bytes);
    replacements_ = table.substr(trie_bytes);
  }

  void check() {
    check_replacements();
    group_children();
    // Depth first, without recursion. A child stays the first of its base until what lies below it is known.
    std::vector<Step> path = {enter(children_base(0))};
    while (!path.empty()) {
      Step& step = path.back();
      const std::uint32_t child = first_child_[step.base];
      if (child == kNone) {
        most_matches_[step.base] = step.most_matches;
        path.pop_back();
        continue;
      }
      const std::uint32_t base = children_base(child);
      if (most_matches_[base] == kOnPath) fail(name_, "a normalisation trie with a cycle");
      if (most_matches_[base] == kNew) {
        path.push_back(enter(base));
        continue;
      }
      step.most_matches = std::max(step.most_matches, most_matches_[base] + static_cast<int>(ends_match(child)));
      if (step.most_matches > kMaxMatches) fail(name_, "a normalisation trie with too many matches on one path");
      first_child_[step.base] = next_sibling_[child];
    }
  }

 private:
  // Where the walk is: among the units that have this base.
  struct Step {
    std::uint32_t base;
    int most_matches;
  };

  static constexpr std::size_t kBlockBytes = 1024;  // 256 units: a unit's children lie in one block
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kValueBit = 1u << 31;
  static constexpr std::size_t kMaxReplacementBytes = 256;
  static constexpr int kNew = -1;
  static constexpr int kOnPath = -2;
  static constexpr int kMaxMatches = 32;

  bool ends_match(std::uint32_t unit) const { return (units_[unit] >> 8 & 1) != 0; }

  // The children of a unit are at this position xor their label; where a match ends, the unit at the position itself
  // says where its replacement begins.
  std::uint32_t children_base(std::uint32_t unit) const {
    const std::uint32_t bits = unit < units_.size() ? units_[unit] : 0;
    const std::uint32_t base = unit ^ (bits >> 10 << ((bits & 1u << 9) >> 6));
    // Text can lead to any of 256 units there.
    if ((base | 0xFFu) >= units_.size()) fail(name_, "a normalisation trie that leads outside of itself");
    if (ends_match(unit)) {
      const std::uint32_t start = units_[base] & ~kValueBit;
      if (start >= replacements_.size() || (static_cast<unsigned>(replacements_[start]) & 0xC0u) == 0x80) {
        fail(name_, fmt::format("a replacement text at {} of {}", start, replacements_.size()));
      }
    }
    return base;
  }

  void check_replacements() const {
    if (replacements_.empty() || replacements_.back() != '\0') fail(name_, "a replacement text without an end");
    if (find_invalid_utf8(replacements_)) fail(name_, "a replacement text that is not UTF-8");
    for (std::size_t start = 0; start < replacements_.size();) {
      const std::size_t end = replacements_.find('\0', start);
      if (end - start > kMaxReplacementBytes) fail(name_, fmt::format("a replacement text of {} bytes", end - start));
      start = end + 1;
    }
  }

  // A unit's position and label give the base by which it is reached.
  void group_children() {
    const std::size_t size = units_.size();
    first_child_.assign(size, kNone);
    next_sibling_.assign(size, kNone);
    most_matches_.assign(size, kNew);
    for (std::uint32_t unit = 0; unit < size; ++unit) {
      if ((units_[unit] & kValueBit) != 0) continue;  // no byte is its label
      const std::uint32_t base = unit ^ (units_[unit] & 0xFF);
      if (base >= size) continue;
      next_sibling_[unit] = first_child_[base];
      first_child_[base] = unit;
    }
  }

  Step enter(std::uint32_t base) {
    most_matches_[base] = kOnPath;
    return {base, 0};
  }

  const std::string& name_;
  std::vector<std::uint32_t> units_;
  std::string_view replacements_;
  std::vector<std::uint32_t> first_child_;   // by base
  std::vector<std::uint32_t> next_sibling_;  // by child
  std::vector<int> most_matches_;            // by base: on any path from there on; or kNew, kOnPath
};

void check_normalizer(std::string_view spec, const std::string& name) {
  Fields fields(spec, name);
  while (const auto field = fields.next()) {
    if (!field->is(2, Field::WireType::bytes) || field->bytes.empty()) continue;  // precompiled_charsmap
    NormalizationTrie(field->bytes, name).check();
  }
}

void check_trainer(std::string_view spec, const std::string& name) {
  Fields fields(spec, name);
  while (const auto field = fields.next()) {
    if (!field->is(44, Field::WireType::bytes)) continue;  // unk_surface: what an unknown piece is decoded to
    if (field->bytes.size() > kMaxUnknownSurfaceBytes || find_invalid_utf8(field->bytes)) {
      fail(name, fmt::format("an unk_surface of {} bytes, expected UTF-8 of at most {}", field->bytes.size(),
                             kMaxUnknownSurfaceBytes));
    }
  }
}

// The piece's text if it is user-defined, else empty.
std::string_view check_piece(std::string_view message, std::size_t index, const std::string& name) {
  Fields fields(message, name);
  std::string_view piece;
  bool user_defined = false;
  while (const auto field = fields.next()) {
    if (field->is(1, Field::WireType::bytes)) piece = field->bytes;
    if (field->is(2, Field::WireType::fixed32)) {
      float score = 0;
      std::memcpy(&score, field->bytes.data(), sizeof score);
      if (!std::isfinite(score)) fail(name, fmt::format("piece {} has the score {}", index, score));
    }
    // Protobuf takes the low 32 bits.
    if (field->is(3, Field::WireType::varint) && static_cast<std::uint32_t>(field->value) == kUserDefined) {
      user_defined = true;
    }
  }
  if (piece.empty() || piece.size() > kMaxPieceBytes) {
    fail(name, fmt::format("piece {} has {} bytes, expected 1 to {}", index, piece.size(), kMaxPieceBytes));
  }
  // Some converters write a piece that is one NUL, beside those for bytes.
  if (find_invalid_utf8(piece) || (piece.size() > 1 && piece.find('\0') != std::string_view::npos)) {
    fail(name, fmt::format("piece {} is not UTF-8 without NUL", index));
  }
  return user_defined ? piece : std::string_view();
}

void check_nesting(std::vector<std::string_view> user_pieces, const std::string& name) {
  std::sort(user_pieces.begin(), user_pieces.end());
  std::vector<std::string_view> nested;  // each begins the next
  for (const std::string_view piece : user_pieces) {
    while (!nested.empty() && !piece.starts_with(nested.back())) nested.pop_back();
    nested.push_back(piece);
    if (nested.size() > kMaxNestedUserPieces) {
      fail(name, fmt::format("more than {} user-defined pieces that begin each other", kMaxNestedUserPieces));
    }
  }
}

}  // namespace

void check_sentencepiece_model(std::string_view bytes, const std::string& name) {
  if (bytes.size() > kMaxSentencePieceBytes) fail(name, fmt::format("{} bytes", bytes.size()));
  std::size_t pieces = 0;
  std::vector<std::string_view> user_pieces;
  Fields fields(bytes, name);
  while (const auto field = fields.next()) {
    if (field->is(1, Field::WireType::bytes)) {
      const std::string_view user_piece = check_piece(field->bytes, pieces, name);
      if (!user_piece.empty()) user_pieces.push_back(user_piece);
      if (++pieces > kMaxSentencePieces) fail(name, fmt::format("more than {} pieces", kMaxSentencePieces));
      continue;
    }
    if (field->bytes.size() > kMaxOtherFieldBytes) {
      fail(name, fmt::format("field {} of {} bytes", field->number, field->bytes.size()));
    }
    if (field->is(2, Field::WireType::bytes)) check_trainer(field->bytes, name);
    if (field->is(3, Field::WireType::bytes)) check_normalizer(field->bytes, name);
    if (field->is(5, Field::WireType::bytes)) check_normalizer(field->bytes, name);  // denormalizer_spec
  }
  if (pieces == 0) fail(name, "no pieces");
  check_nesting(std::move(user_pieces), name);
}

}  // namespace encdec
