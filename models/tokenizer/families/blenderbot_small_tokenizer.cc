#include "encdec/models/tokenizer/families/blenderbot_small_tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/python_text.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/merge_pairs.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxMergesBytes = 32u << 20;
constexpr std::string_view kWordEnd = "</w>";
constexpr std::string_view kPunctuation = ".,!?()";

// Spaces before punctuation and around apostrophes; whitespace in a row, which a newline at the end may be part of, is
// one space.
std::string space_out(std::string_view word) {
  std::string spaced;
  for (const char c : word) {
    if (kPunctuation.find(c) != kPunctuation.npos) {
      spaced.push_back(' ');
      spaced.push_back(c);
    } else if (c == '\'') {
      spaced.append(" ' ");
    } else {
      spaced.push_back(c);
    }
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

}  // namespace

std::unique_ptr<Tokenizer> BlenderbotSmallTokenizer::load(const std::filesystem::path& folder) {
  return std::make_unique<BlenderbotSmallTokenizer>(
      Files{.vocabulary = Vocabulary::read(folder / "vocab.json"),
            .merges = read_text_file(folder / "merges.txt", kMaxMergesBytes),
            .settings = TokenizerFiles::read(folder)},
      folder.string());
}

BlenderbotSmallTokenizer::BlenderbotSmallTokenizer(Files files, std::string name)
    : SlowTokenizer(TokenizerSettings::merge(files.settings, {{"bos_token", "__start__"},
                                                              {"eos_token", "__end__"},
                                                              {"unk_token", "__unk__"},
                                                              {"pad_token", "__null__"}}),
                    std::move(files.vocabulary), name),
      ranks_(read_ranks(files.merges, name)) {
  require_unknown();
}

// The first line is a comment, the last is not ended; others that are no pairs do not count.
BlenderbotSmallTokenizer::Ranks BlenderbotSmallTokenizer::read_ranks(const std::string& merges,
                                                                     const std::string& name) {
  if (const auto offset = find_invalid_utf8(merges)) {
    throw TokenizerError(fmt::format("{}: merges.txt: not valid UTF-8 at byte {}", name, *offset));
  }
  Ranks ranks;
  std::string_view rest = merges;
  for (std::size_t line = 0, end; (end = rest.find('\n')) != rest.npos; ++line, rest.remove_prefix(end + 1)) {
    if (line == 0) continue;
    const std::string_view merge = strip_left(strip_right(rest.substr(0, end)));
    const std::size_t space = merge.find(' ');
    if (space == merge.npos || merge.find(' ', space + 1) != merge.npos) continue;
    ranks.insert_or_assign(std::string(merge), line);
  }
  return ranks;
}

std::vector<std::string> BlenderbotSmallTokenizer::cut(std::string_view text, TextSide /*side*/) const {
  std::vector<std::string> pieces;
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t end = 0;
    Character next{};
    while (end < rest.size() && !is_white_space((next = first_character(rest.substr(end))).value)) end += next.bytes;
    if (end == 0) {
      rest.remove_prefix(next.bytes);
      continue;
    }
    if (end < rest.size() && rest[end] == '\n') ++end;
    const std::string spaced = space_out(rest.substr(0, end));
    rest.remove_prefix(end);
    std::string_view words = spaced;
    while (!words.empty()) {
      const std::size_t word_end = std::min(words.find(' '), words.size());
      if (word_end > 0) cut_word(words.substr(0, word_end), pieces);
      words.remove_prefix(std::min(word_end + 1, words.size()));
    }
  }
  return pieces;
}

void BlenderbotSmallTokenizer::cut_word(std::string_view word, std::vector<std::string>& pieces) const {
  const std::string text = python_lower(word) + std::string(kWordEnd);
  const std::size_t letters = text.size() - kWordEnd.size();
  std::vector<std::string_view> symbols;  // characters; the end belongs to the last
  for (std::size_t begin = 0; begin < letters;) {
    const std::size_t bytes = first_character(std::string_view(text).substr(begin)).bytes;
    symbols.push_back(std::string_view(text).substr(begin, begin + bytes == letters ? text.npos : bytes));
    begin += bytes;
  }
  if (symbols.size() == 1) return pieces.push_back(text.substr(0, letters));
  using Merge = PairMerge<std::size_t, std::string_view>;
  const auto find_merge = [&](std::string_view left, std::string_view right) -> std::optional<Merge> {
    const auto rank = ranks_.find(fmt::format("{} {}", left, right));
    if (rank == ranks_.end()) return std::nullopt;
    return Merge{rank->second, {left.data(), left.size() + right.size()}};
  };
  symbols = merge_pairs<std::size_t>(std::move(symbols), find_merge);
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) pieces.push_back(fmt::format("{}@@", symbols[i]));
  pieces.emplace_back(symbols.back().substr(0, symbols.back().size() - kWordEnd.size()));
}

std::optional<std::int32_t> BlenderbotSmallTokenizer::find_id(std::string_view piece, TextSide /*side*/) const {
  const auto added = added_tokens().id(piece);
  return added ? added : vocabulary().id(python_lower(piece));
}

std::string BlenderbotSmallTokenizer::join(const std::vector<std::string>& pieces) const {
  constexpr std::string_view kGoesOn = "@@ ";
  const std::string spaced = fmt::format("{}", fmt::join(pieces, " "));
  std::string text;
  std::string_view rest = spaced;
  for (std::size_t found; (found = rest.find(kGoesOn)) != rest.npos; rest.remove_prefix(found + kGoesOn.size())) {
    text += rest.substr(0, found);
  }
  text += rest;
  return std::string(strip_right(strip_left(text)));
}

Affixes BlenderbotSmallTokenizer::affixes(const EncodeOptions& options, TextSide /*side*/) const {
  refuse_languages(options);
  return {};
}

}  // namespace encdec
