#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "encdec/models/tokenizer/families/slow_tokenizer.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/merge_pairs.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

namespace encdec {
namespace {

constexpr std::string_view kWordEnd = "</w>";
constexpr std::string_view kPunctuation = ".,!?()";

// Inserts spaces before punctuation and around apostrophes. Then replaces each run of spaces and newlines by one space,
// except that a single newline becomes " __newln__".
std::string space_out(std::string_view word) {
  std::string spaced;  // `word` with the inserted spaces
  for (const char c : word) {
    if (c == '\'' || kPunctuation.find(c) != kPunctuation.npos) spaced.push_back(' ');
    spaced.push_back(c);
    if (c == '\'') spaced.push_back(' ');
  }
  std::string result;
  for (std::size_t i = 0; i < spaced.size();) {
    std::size_t end = i;
    while (end < spaced.size() && (spaced[end] == ' ' || spaced[end] == '\n')) ++end;
    if (end == i) {
      result.push_back(spaced[end++]);
    } else if (end - i == 1 && spaced[i] == '\n') {
      result.append(" __newln__");
    } else {
      result.push_back(' ');
    }
    i = end;
  }
  return result;
}

using Ranks = StringMap<std::uint32_t>;  // the key is "left right"

// Reads merges.txt. The rank of a merge is its line number. Skips three kinds of lines: the first line, which is a
// comment; a last line without a newline; and lines that are not pairs.
Ranks read_ranks(std::string_view merges, const std::string& name) {
  if (const auto offset = find_invalid_utf8(merges)) {
    refuse<TokenizerError>(name, "merges.txt: not valid UTF-8 at byte {}", *offset);
  }
  Ranks ranks;
  std::string_view rest = merges;
  std::uint32_t line = 0;
  for (std::size_t end; (end = rest.find('\n')) != rest.npos; ++line, rest.remove_prefix(end + 1)) {
    if (line == 0) continue;
    const std::string_view merge = strip(rest.substr(0, end));
    const std::size_t space = merge.find(' ');
    if (space == merge.npos || merge.find(' ', space + 1) != merge.npos) continue;
    ranks.insert_or_assign(std::string(merge), line);
  }
  return ranks;
}

class BlenderbotSmallTokenizer final : public SlowTokenizer {
 public:
  BlenderbotSmallTokenizer(Vocabulary vocabulary, std::string_view merges, const TokenizerFiles& files,
                           const std::string& name)
      : SlowTokenizer(TokenizerSettings::merge(files, {{"bos_token", "__start__"},
                                                       {"eos_token", "__end__"},
                                                       {"unk_token", "__unk__"},
                                                       {"pad_token", "__null__"}}),
                      std::move(vocabulary), name),
        ranks_(read_ranks(merges, name)) {
    require_unknown();
  }

  std::string kind() const override { return "BPE"; }

 protected:
  void cut(std::string_view text, TextSide /*side*/, const PieceSink& take) const override {
    // Space out the next word, with a newline that follows it. Then split the result at the inserted spaces.
    for (std::string_view rest = text; !rest.empty();) {
      rest.remove_prefix(leading_bytes(rest, is_white_space));
      std::size_t end = leading_bytes(rest, [](char32_t c) { return !is_white_space(c); });
      if (end < rest.size() && rest[end] == '\n') ++end;
      const std::string spaced = space_out(rest.substr(0, end));
      rest.remove_prefix(end);
      std::string_view words = spaced;
      while (!words.empty()) {
        const std::size_t word_end = std::min(words.find(' '), words.size());
        if (word_end > 0) cut_word(words.substr(0, word_end), take);
        words.remove_prefix(std::min(word_end + 1, words.size()));
      }
    }
  }

  std::optional<std::int32_t> find_id(std::string_view piece, TextSide /*side*/) const override {
    const auto added = added_tokens().id(piece);
    return added ? added : vocabulary().id(python_lower(piece));
  }

  std::string join(const std::vector<std::string>& pieces) const override {
    return std::string(strip(replace_all(fmt::format("{}", fmt::join(pieces, " ")), "@@ ", "")));
  }

  Affixes affixes(const EncodeOptions& options, TextSide /*side*/) const override {
    refuse_languages(options, name());
    return {};
  }

 private:
  // Splits a word into subwords by byte-pair encoding.
  void cut_word(std::string_view word, const PieceSink& take) const {
    const std::string text = python_lower(word) + std::string(kWordEnd);
    const std::string_view view = text;
    const std::size_t letters = text.size() - kWordEnd.size();
    SymbolChain chain(text.size());  // the characters of the word; the last one includes kWordEnd
    for (std::size_t begin = 0; begin < letters; begin = chain.slots()) {
      const std::size_t bytes = first_character(view.substr(begin)).bytes;
      chain.add(0, begin + bytes == letters ? text.size() - begin : bytes);
    }
    if (chain.symbols() == 1) return take(view.substr(0, letters));
    // Merge neighbours whose texts form a line of merges.txt. All symbols have the number 0.
    using Merge = PairMerge<std::uint32_t>;
    const auto find_merge = [&](std::size_t left, std::size_t middle, std::size_t end) -> std::optional<Merge> {
      const auto rank =
          ranks_.find(fmt::format("{} {}", view.substr(left, middle - left), view.substr(middle, end - middle)));
      return rank != ranks_.end() ? std::optional(Merge{rank->second, 0}) : std::nullopt;
    };
    merge_pairs<std::uint32_t>(chain, find_merge);
    // Emit the subwords. Append "@@" to all subwords but the last, and remove kWordEnd from the last.
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = chain.end(begin);
      if (end < text.size()) {
        take(fmt::format("{}@@", view.substr(begin, end - begin)));
      } else {
        take(view.substr(begin, letters - begin));
      }
    }
  }

  Ranks ranks_;
};

}  // namespace

std::unique_ptr<Tokenizer> blenderbot_small_tokenizer(Vocabulary vocabulary, std::string_view merges,
                                                      const TokenizerFiles& files, const std::string& name) {
  return std::make_unique<BlenderbotSmallTokenizer>(std::move(vocabulary), merges, files, name);
}

}  // namespace encdec
