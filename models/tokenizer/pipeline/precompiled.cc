#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "encdec/engine/error.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/utf8.h"

namespace encdec::normalizers {
namespace {

// A trie of darts-clone and the replacements that its values point to. A unit of the trie is 32 bits: the low byte and
// the top bit are the label by which it is entered, bit 8 says that a match ends here, the rest where its children lie.
class Precompiled final : public Normalizer {
 public:
  Precompiled(std::string_view table, const std::string& name) {
    std::uint32_t trie_bytes = 0;
    if (table.size() < sizeof trie_bytes) fail(name, fmt::format("{} bytes", table.size()));
    std::memcpy(&trie_bytes, table.data(), sizeof trie_bytes);
    table.remove_prefix(sizeof trie_bytes);
    if (trie_bytes > table.size() || trie_bytes % sizeof(std::uint32_t) != 0) {
      fail(name, fmt::format("a trie of {} bytes in a table of {}", trie_bytes, table.size()));
    }
    units_.resize(trie_bytes / sizeof(std::uint32_t));
    if (!units_.empty()) std::memcpy(units_.data(), table.data(), trie_bytes);
    replacements_ = table.substr(trie_bytes);
    if (find_invalid_utf8(replacements_)) fail(name, "replacements that are not UTF-8");
  }

  void normalize(PipelineText& text) const override {
    const std::string old = text.text;
    TextRewriter rewriter(text);
    GraphemeScanner clusters(old);
    for (std::string_view cluster = clusters.next(); !cluster.empty(); cluster = clusters.next()) {
      if (cluster.size() < kWholeClusterBytes) {
        if (const auto replacement = find(cluster)) {
          replace(rewriter, cluster.size(), *replacement);
          continue;
        }
      }
      while (!cluster.empty()) {
        const std::size_t bytes = first_character(cluster).bytes;
        const auto replacement = find(cluster.substr(0, bytes));
        replacement ? replace(rewriter, bytes, *replacement) : rewriter.keep(bytes);
        cluster.remove_prefix(bytes);
      }
    }
    rewriter.finish();
  }

 private:
  static constexpr std::size_t kWholeClusterBytes = 6;

  // tokenizers does not notice what is left out at the beginning.
  static void replace(TextRewriter& rewriter, std::size_t bytes, std::string_view by) {
    if (by.empty() && rewriter.is_empty()) return rewriter.drop_origin(bytes);
    // Of several characters, the first is replaced by the first.
    const std::size_t first = first_character(rewriter.rest()).bytes;
    if (first < bytes && !by.empty()) {
      const std::size_t new_first = first_character(by).bytes;
      rewriter.replace(first, by.substr(0, new_first));
      by.remove_prefix(new_first);
      bytes -= first;
    }
    rewriter.replace(bytes, by);
  }

  [[noreturn]] static void fail(const std::string& name, std::string_view what) {
    throw TokenizerError(
        fmt::format("{}: a normalisation table with {}, expected a trie and replacements", name, what));
  }

  // The replacement for the shortest text of the trie that `text` begins with.
  std::optional<std::string_view> find(std::string_view text) const {
    if (units_.empty()) return std::nullopt;
    std::size_t position = children(0, units_[0]);
    for (const char byte : text) {
      const auto label = static_cast<std::uint8_t>(byte);
      position ^= label;
      if (label == 0 || position >= units_.size() || (units_[position] & kLabelMask) != label) return std::nullopt;
      const std::uint32_t unit = units_[position];
      position = children(position, unit);
      if ((unit >> 8 & 1) == 0) continue;
      if (position >= units_.size()) return std::nullopt;
      return replacement(units_[position] & ~kValueBit);
    }
    return std::nullopt;
  }

  static std::size_t children(std::size_t position, std::uint32_t unit) {
    return position ^ (unit >> 10 << ((unit & 1u << 9) >> 6));
  }

  std::optional<std::string_view> replacement(std::size_t start) const {
    const std::string_view all = replacements_;
    if (start >= all.size() || (static_cast<std::uint8_t>(all[start]) & 0xC0u) == 0x80) return std::nullopt;
    const std::size_t end = all.find('\0', start);
    return all.substr(start, end == std::string_view::npos ? end : end - start);
  }

  static constexpr std::uint32_t kValueBit = 1u << 31;
  static constexpr std::uint32_t kLabelMask = kValueBit | 0xFFu;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace

NormalizerPtr precompiled(std::string_view table, const std::string& name) {
  return std::make_unique<Precompiled>(table, name);
}

}  // namespace encdec::normalizers
