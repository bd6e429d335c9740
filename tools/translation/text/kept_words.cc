#include "encdec/translation/text/kept_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "encdec/translation/text/language.h"

namespace encdec {
namespace {

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns the offsets at which `word` occurs as a whole word, outside the parts of the text in `is_taken`.
std::vector<std::size_t> places_of(std::string_view text, const std::string& word, const std::vector<bool>& is_taken) {
  std::vector<std::size_t> positions;
  for (std::size_t begin = text.find(word); begin != std::string_view::npos; begin = text.find(word, begin)) {
    const std::size_t end = begin + word.size();
    const bool is_joined = (begin > 0 && is_alphanumeric(text[begin - 1]) && is_alphanumeric(word.front())) ||
                           (end < text.size() && is_alphanumeric(text[end]) && is_alphanumeric(word.back()));
    if (is_joined || is_taken[begin]) {
      ++begin;
    } else {
      positions.push_back(begin);
      begin = end;
    }
  }
  return positions;
}

// Returns the offsets of each word. Searches for longer words first, so that "%s" is not found in "%s_name".
std::map<std::string, std::vector<std::size_t>> all_positions(std::string_view text, std::vector<std::string> words) {
  std::ranges::sort(words,
                    [](const auto& a, const auto& b) { return std::pair(b.size(), a) < std::pair(a.size(), b); });
  std::vector<bool> is_taken(text.size());
  std::map<std::string, std::vector<std::size_t>> all;
  for (const std::string& word : words) {
    const auto [found, is_new] = all.try_emplace(word);
    if (!is_new || word.empty()) continue;
    found->second = places_of(text, word, is_taken);
    for (const std::size_t position : found->second) {
      std::fill_n(is_taken.begin() + static_cast<std::ptrdiff_t>(position), word.size(), true);
    }
  }
  return all;
}

}  // namespace

std::string replaced(std::string_view text, std::span<const Replacement> replacements) {
  std::string all;
  std::size_t begin = 0;
  for (const Replacement& replacement : replacements) {
    all += text.substr(begin, replacement.begin - begin);
    all += replacement.by;
    begin = replacement.end;
  }
  return all += text.substr(begin);
}

std::size_t PositionMover::operator()(std::size_t position) {
  for (; !left_.empty() && position > left_.front().begin; left_ = left_.subspan(1)) {
    const auto& [begin, end, by] = left_.front();
    if (position < end) return begin + added_ - removed_;  // inside the replaced range
    added_ += by.size();
    removed_ += end - begin;
  }
  return position + added_ - removed_;
}

std::optional<std::vector<std::size_t>> find_kept(std::string_view translation, std::string_view source,
                                                  std::span<const std::string> words) {
  const std::vector<std::string> list(words.begin(), words.end());
  auto found = all_positions(translation, list);
  const auto expected = all_positions(source, list);
  for (const auto& [word, positions] : expected) {
    if (found[word].size() != positions.size()) return std::nullopt;
  }
  std::map<std::string, std::size_t> used;  // occurrences assigned so far, by word
  std::vector<std::size_t> positions;
  for (const std::string& word : words) {
    const std::size_t number = used[word]++;
    if (number >= found[word].size()) return std::nullopt;
    positions.push_back(found[word][number]);
  }
  return positions;
}

std::size_t count_term(std::string_view translation, std::string_view term, bool is_spaceless) {
  const std::string text = without_case(translation), wanted = without_case(term);
  std::size_t count = 0;
  for (std::size_t begin = text.find(wanted); begin != std::string::npos; begin = text.find(wanted, begin + 1)) {
    const char before = begin > 0 ? text[begin - 1] : ' ';
    const bool is_joined = is_alphanumeric(before) || static_cast<unsigned char>(before) >= 0x80;
    count += is_spaceless || !is_joined ? 1 : 0;
  }
  return count;
}

std::span<const std::string_view> stand_ins() {
  static constexpr std::array<std::string_view, 12> kWords = {
      "ჭაბუკი",  "ժամանակ", "ሰላምታ",    "ផ្ទះ",    // rare words
      "7391",    "48263",   "91574",   "36482",  // numbers
      "Zorvath", "Quillon", "Brenkar", "Tavisk"  // names
  };
  return kWords;
}

}  // namespace encdec
