#include "encdec/speech/transcription/known_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/speech/transcript/word_alignment.h"

namespace encdec {
namespace {

bool is_space(char32_t c) {
  return is_white_space(c) || c == U'\uFEFF';  // byte order mark
}

// Appends a word. If the new word or the previous word of the same line has no letters or digits, joins both words.
void add_word(std::vector<KnownWord>& words, KnownWord word) {
  word.spoken = spoken_part(word.text);
  const bool is_first = words.empty() || words.back().line != word.line;
  if (is_first || (!words.back().spoken.empty() && !word.spoken.empty())) return words.push_back(std::move(word));
  KnownWord& last = words.back();
  last.text += word.text;
  last.tokens.insert(last.tokens.end(), word.tokens.begin(), word.tokens.end());
  last.spoken += word.spoken;
}

// The best chain of pairs that ends with one pair.
struct Chain {
  std::size_t heard = 0, text = 0;  // indices of the last pair
  double score = 0;
  const Chain* before = nullptr;  // chain without the last pair; null for a single pair
};

double logarithm(std::size_t skipped) {
  return std::log2(1 + static_cast<double>(skipped));
}

// Returns the score of the unpaired words between two pairs; see match_words().
double gap_score(std::size_t heard, std::size_t text) {
  const std::size_t least = std::min(heard, text), more = std::max(heard, text) - least;
  return -static_cast<double>(least) - (more > 0 ? 2.5 : 0) - 0.2 * static_cast<double>(more);
}

}  // namespace

std::string spoken_part(std::string_view text) {
  const std::string valid = replace_invalid_utf8(text);
  std::string spoken;
  for (const CodePoint& point : code_points(valid)) {
    if (is_word_character(point.value) || point.value == U'\uFFFD') append_lowercase(spoken, point.value);
  }
  return spoken;
}

KnownText::KnownText(std::string_view text, const WhisperTokens& tokens, std::string_view language) {
  check_text(text);
  const auto decode = [&](std::span<const std::int32_t> ids) { return tokens.bytes(ids); };
  const bool has_spaces = is_written_with_spaces(language);
  for (std::size_t at = 0; at < text.size();) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (leading_bytes(line, is_space) == line.size()) continue;
    lines.emplace_back(line);
    // Split off white space and the characters up to the next white space.
    while (!line.empty()) {
      poll_cancelled();
      const std::size_t spaces = leading_bytes(line, is_space);
      line.remove_prefix(spaces);
      const std::size_t size = leading_bytes(line, [](char32_t c) { return !is_space(c); });
      std::string part((has_spaces || spaces > 0) && size > 0 ? " " : "");
      part += line.substr(0, size);
      line.remove_prefix(size);
      std::vector<WordTokens> parts = {{part, tokens.encode(part)}};
      if (!has_spaces) parts = split_to_word_tokens(parts.front().tokens, language, tokens.end_of_text, decode);
      for (WordTokens& word : parts) {
        add_word(words, {.text = std::move(word.text), .line = lines.size() - 1, .tokens = std::move(word.tokens)});
      }
    }
  }
}

WordPairs match_words(std::span<const KnownWord> heard, std::span<const KnownWord> text) {
  constexpr double kPair = 2, kEnough = 4;
  // Number of earlier pairs that are tried before a pair. This is enough unless a few words are repeated often.
  constexpr std::size_t kNear = 256;
  // For every two equal words, make a chain of one pair.
  std::vector<Chain> chains;
  for (std::size_t j = 0; j < text.size(); ++j) {
    for (std::size_t i = 0; i < heard.size(); ++i) {
      if (heard[i].spoken == text[j].spoken && !text[j].spoken.empty())
        chains.push_back({i, j, kPair - logarithm(i) - 2 * logarithm(j)});
    }
  }
  // Append each pair to the earlier chain that results in the highest score.
  const Chain* best = nullptr;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (i % kNear == 0) check_cancelled();
    Chain& chain = chains[i];
    for (std::size_t k = i - std::min(i, kNear); k < i; ++k) {
      const Chain& before = chains[k];
      if (before.heard >= chain.heard || before.text >= chain.text) continue;
      const double score =
          before.score + kPair + gap_score(chain.heard - before.heard - 1, chain.text - before.text - 1);
      if (score > chain.score) chain = {chain.heard, chain.text, score, &before};
    }
    if (best == nullptr || chain.score > best->score) best = &chain;
  }
  WordPairs pairs;
  if (best == nullptr || best->score < std::min(kEnough, static_cast<double>(heard.size()))) return pairs;
  for (; best != nullptr; best = best->before) pairs.emplace_back(best->heard, best->text);
  std::ranges::reverse(pairs);
  return pairs;
}

}  // namespace encdec
