#include "encdec/models/tokenizer/pipeline/normalization_table.h"

#include <fmt/format.h>

#include <cstring>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

constexpr std::size_t kBlockUnits = 256;  // units per block; all children of a unit are in one block
constexpr std::size_t kMaxReplacementBytes = 256;
constexpr std::uint32_t kValueBit = 1u << 31;
constexpr std::uint32_t kLabelMask = kValueBit | 0xFFu;

[[noreturn]] void fail_table(const std::string& name, std::string_view what) {
  throw TokenizerError(fmt::format("{}: a normalisation table with {}, expected a trie and replacements", name, what));
}

}  // namespace

NormalizationTable::NormalizationTable(std::string_view bytes, const std::string& name) {
  std::uint32_t trie_bytes = 0;
  if (bytes.size() < sizeof trie_bytes) fail_table(name, fmt::format("{} bytes", bytes.size()));
  std::memcpy(&trie_bytes, bytes.data(), sizeof trie_bytes);
  bytes.remove_prefix(sizeof trie_bytes);
  if (trie_bytes > bytes.size() || trie_bytes % sizeof(std::uint32_t) != 0) {
    fail_table(name, fmt::format("a trie of {} bytes in a table of {}", trie_bytes, bytes.size()));
  }
  units_.resize(trie_bytes / sizeof(std::uint32_t));
  if (!units_.empty()) std::memcpy(units_.data(), bytes.data(), trie_bytes);
  replacements_ = bytes.substr(trie_bytes);
  if (find_invalid_utf8(replacements_)) fail_table(name, "replacements that are not UTF-8");
}

NormalizationTable::Match NormalizationTable::find(std::string_view text, Wanted wanted) const {
  Match match;
  if (units_.empty()) return match;
  // Follow the text from the root, one byte per unit, and remember the last match.
  std::size_t position = children(0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto label = static_cast<std::uint8_t>(text[i]);
    position ^= label;
    if (label == 0 || position >= units_.size() || (units_[position] & kLabelMask) != label) break;
    const bool is_match = ends_match(position);
    position = children(position);
    if (!is_match) continue;
    const auto found = replacement(position);
    if (!found) break;
    match = {i + 1, *found};
    if (wanted == Wanted::shortest) break;
  }
  return match;
}

// Returns a position p. The child of `unit` with label c is at p ^ c. If a match ends at `unit`, the unit at p contains
// the offset of the replacement. The arithmetic is darts-clone's DoubleArrayUnit::offset().
std::size_t NormalizationTable::children(std::size_t unit) const {
  const std::uint32_t bits = units_[unit];
  return unit ^ (bits >> 10 << ((bits & 1u << 9) >> 6));
}

std::optional<std::string_view> NormalizationTable::replacement(std::size_t unit) const {
  if (unit >= units_.size()) return std::nullopt;
  const std::string_view all = replacements_;
  const std::size_t start = units_[unit] & ~kValueBit;
  if (start >= all.size() || is_continuation(all[start])) return std::nullopt;
  return all.substr(start, all.find('\0', start) - start);
}

void NormalizationTable::check(const std::string& name) const {
  if (units_.size() % kBlockUnits != 0) fail_table(name, fmt::format("a trie of {} units", units_.size()));
  if (replacements_.empty() || replacements_.back() != '\0') fail_table(name, "a replacement without an end");
  for (std::size_t start = 0, end = 0; start < replacements_.size(); start = end + 1) {
    end = replacements_.find('\0', start);
    if (end - start > kMaxReplacementBytes) fail_table(name, fmt::format("a replacement of {} bytes", end - start));
  }
  // Visit all units with a depth-first search, without recursion. An entry's `position` is a value of children().
  enum class State : std::uint8_t { unseen, on_path, done };
  struct PathEntry {
    std::size_t position;
    std::size_t label = 1;
  };
  std::vector<State> states(units_.size());
  std::vector<PathEntry> path;
  const auto enter = [&](std::size_t unit) {
    const std::size_t position = checked_children(unit, name);
    if (states[position] == State::on_path) fail_table(name, "a trie that has a cycle");
    if (states[position] == State::done) return;
    states[position] = State::on_path;
    path.push_back({position});
  };
  enter(0);
  while (!path.empty()) {  // try the next label of the last unit on the path
    PathEntry& entry = path.back();
    if (entry.label == kBlockUnits) {
      states[entry.position] = State::done;
      path.pop_back();
      continue;
    }
    const std::size_t label = entry.label++;
    if ((units_[entry.position ^ label] & kLabelMask) == label) enter(entry.position ^ label);
  }
}

std::size_t NormalizationTable::checked_children(std::size_t unit, const std::string& name) const {
  const std::size_t position = unit < units_.size() ? children(unit) : units_.size();
  if ((position | (kBlockUnits - 1)) >= units_.size()) fail_table(name, "a trie that leads outside of itself");
  if (ends_match(unit) && !replacement(position)) {
    fail_table(name, fmt::format("a replacement at {} of {}", units_[position] & ~kValueBit, replacements_.size()));
  }
  return position;
}

}  // namespace encdec
