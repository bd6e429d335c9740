#include "encdec/translation/text/inline_codes.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

enum class Kind : std::uint8_t { space, letter, digit, single, extension };

bool is_spaceless(UChar32 c) {
  UErrorCode error = U_ZERO_ERROR;
  return uscript_breaksBetweenLetters(uscript_getScript(c, &error)) != 0;
}

Kind kind_of(UChar32 c) {
  if (u_isUWhiteSpace(c) != 0) return Kind::space;
  const auto category = U_GET_GC_MASK(c);
  if ((category & (U_GC_M_MASK | U_GC_CF_MASK)) != 0) return Kind::extension;
  if ((category & U_GC_N_MASK) != 0) return Kind::digit;
  return (category & U_GC_L_MASK) != 0 && !is_spaceless(c) ? Kind::letter : Kind::single;
}

// A node of the element tree: a pair of source codes with everything between them, or a single code.
struct Element {
  std::optional<std::size_t> begin_code = {}, end_code = {};  // indices of the codes
  // Source units inside the element: [begin, end).
  std::size_t begin = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
  bool begins_here = true, ends_here = true;  // whether the element begins and ends in this sentence
  std::vector<Element> children = {};
  // Translated words inside the element: [first_word, end_word).
  std::size_t first_word = 0, end_word = 0;
};

// Returns the tree of elements. The root has no codes.
Element element_tree(std::span<const AlignedCode> codes) {
  std::vector<Element> open(1);
  const auto close = [&open](bool ends_here) {
    Element done = std::move(open.back());
    open.pop_back();
    done.ends_here = ends_here;
    open.back().children.push_back(std::move(done));
  };
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const AlignedCode& code = codes[i];
    switch (code.kind) {
      case AlignedCode::Kind::alone:
        open.back().children.push_back({.begin_code = i, .begin = code.unit, .end = code.unit});
        break;
      case AlignedCode::Kind::begin: open.push_back({.begin_code = i, .begin = code.unit}); break;
      case AlignedCode::Kind::end:
        if (code.is_whole && open.size() > 1) {
          open.back().end_code = i;
          open.back().end = code.unit;
          close(true);
        } else {  // the pair began in an earlier sentence, so the element contains everything before this code
          Element whole{.end_code = i, .end = code.unit, .begins_here = false};
          std::swap(whole.children, open.back().children);
          open.back().children.push_back(std::move(whole));
        }
        break;
    }
  }
  while (open.size() > 1) close(false);
  return std::move(open.front());
}

// Chooses the words inside each element, then derives the codes' positions.
class Placer {
 public:
  Placer(std::span<const AlignedWord> words, std::span<const AlignedCode> codes) : words_(words), codes_(codes) {}

  std::vector<PlacedCode> place(Element& all) {
    all.end_word = words_.size();
    choose_words(all);
    place_children(all);
    return std::move(placed_);
  }

 private:
  // Divides the words of the parent among its children.
  void choose_words(Element& parent) {
    std::vector<bool> is_taken(words_.size());
    // Choose the ranges first, so that choose_word() does not choose a word in the range of a sibling.
    for (const auto choose : {&Placer::choose_range, &Placer::choose_word}) {
      for (Element& child : parent.children) {
        if (child.begin >= child.end || child.first_word < child.end_word) continue;  // no units, or has words
        (this->*choose)(parent, is_taken, child);
        if (child.first_word == child.end_word) continue;
        for (std::size_t word = child.first_word; word < child.end_word; ++word) is_taken[word] = true;
        choose_words(child);
      }
    }
    for (Element& child : parent.children) {
      if (child.first_word == child.end_word) choose_position(parent, child);
    }
    std::ranges::stable_sort(parent.children, {},
                             [](const Element& child) { return std::pair(child.first_word, child.end_word); });
  }

  // Assigns to `child` the run of free words with the highest score above 0, if there is one (Kadane's algorithm).
  void choose_range(const Element& parent, const std::vector<bool>& is_taken, Element& child) const {
    float sum = 0, best = 0;
    std::size_t begin = parent.first_word;
    for (std::size_t word = parent.first_word; word < parent.end_word; ++word) {
      if (is_taken[word] || (sum <= 0 && child.begins_here)) {
        sum = 0;
        begin = is_taken[word] ? word + 1 : word;
      }
      if (is_taken[word]) {
        if (!child.begins_here) break;
        continue;
      }
      // A word adds 1 to the score if it translates a unit inside the child, else -1. Attention decides close cases.
      sum += words_[word].unit >= child.begin && words_[word].unit < child.end ? 1.0F : -1.0F;
      if (!words_[word].weights.empty()) sum += 0.25F * (2 * weight_inside(child, word) - 1);
      if (sum <= best || (!child.ends_here && word + 1 < parent.end_word)) continue;
      best = sum;
      child.first_word = begin;
      child.end_word = word + 1;
    }
  }

  // Returns the sum of a word's attention to the units of `child`, from 0 to 1.
  float weight_inside(const Element& child, std::size_t word) const {
    const std::vector<float>& weights = words_[word].weights;
    float sum = 0;
    for (std::size_t unit = child.begin; unit < std::min(child.end, weights.size()); ++unit) sum += weights[unit];
    return sum;
  }

  // Assigns to `child` the free word with the most attention to the units of the child.
  void choose_word(const Element& parent, const std::vector<bool>& is_taken, Element& child) const {
    float most = 0;
    const std::size_t first = child.ends_here ? parent.first_word : parent.end_word - 1;
    const std::size_t end = child.begins_here ? parent.end_word : parent.first_word + 1;
    for (std::size_t word = first; word < end; ++word) {
      const float weight = weight_inside(child, word);
      if (is_taken[word] || weight <= most) continue;
      most = weight;
      child.first_word = word;
      child.end_word = word + 1;
    }
  }

  bool translates(std::size_t word, std::size_t unit) const {
    return word < words_.size() && words_[word].unit == unit;
  }

  // Chooses a position for a child without words. The position is not inside a sibling.
  void choose_position(const Element& parent, Element& child) const {
    const AlignedCode& code = codes_[child.begin_code ? *child.begin_code : *child.end_code];
    const int for_left = code.precedes_space && !code.follows_space ? 4 : 2, for_right = 3;
    int most = 0;
    std::size_t position = parent.end_word, next = parent.end_word;  // next: word for the nearest later unit
    for (std::size_t word = parent.first_word; word <= parent.end_word; ++word) {
      const auto is_within = [word](const Element& sibling) {
        return sibling.first_word < word && word < sibling.end_word;
      };
      if (std::ranges::any_of(parent.children, is_within)) continue;
      // If several adjacent words translate the same unit, the position is not between these words.
      const bool follows_left = word > 0 && translates(word - 1, child.begin - 1) && !translates(word, child.begin - 1);
      const bool precedes_right = translates(word, child.begin) && (word == 0 || !translates(word - 1, child.begin));
      const int sum = (follows_left ? for_left : 0) + (precedes_right ? for_right : 0);
      if (sum > most) {
        most = sum;
        position = word;
      }
      if (word == parent.end_word || words_[word].unit < child.begin) continue;
      if (next == parent.end_word || words_[word].unit < words_[next].unit) next = word;
    }
    if (most == 0) position = next;
    if (!child.begins_here) position = parent.first_word;
    if (!child.ends_here) position = parent.end_word;
    child.first_word = child.end_word = position;
  }

  void place_children(Element& parent) {
    for (Element& child : parent.children) {
      if (parent.first_word == parent.end_word) child.first_word = child.end_word = parent.first_word;
      add(parent, child.begin_code, child.first_word);
      place_children(child);
      add(parent, child.end_code, child.end_word);
    }
  }

  // Adds a code of a child before a word, on the side of the space that place_codes() describes.
  void add(const Element& parent, const std::optional<std::size_t>& number, std::size_t word) {
    if (!number) return;
    const AlignedCode& code = codes_[*number];
    const std::size_t left = word > 0 ? words_[word - 1].end : 0;
    const std::size_t right = word < words_.size() ? words_[word].begin : left;
    const bool ends_parent = word == parent.end_word && parent.end_code && !codes_[*parent.end_code].follows_space;
    const bool follows_word = code.kind == AlignedCode::Kind::end || (code.kind == AlignedCode::Kind::alone &&
                                                                      word > 0 && translates(word - 1, code.unit - 1));
    const bool is_left = code.precedes_space || ends_parent || (!code.follows_space && follows_word);
    position_ = std::max(position_, is_left ? left : right);
    placed_.push_back({.code = *number, .position = position_});
  }

  std::span<const AlignedWord> words_;
  std::span<const AlignedCode> codes_;
  std::vector<PlacedCode> placed_;
  std::size_t position_ = 0;  // byte offset of the last code in the translation
};

}  // namespace

std::vector<TextUnit> units_of(std::string_view text, std::span<const std::size_t> cuts) {
  std::vector<TextUnit> units;
  Kind last = Kind::space;
  // A combining mark or a format character extends the unit before it.
  for (const auto& [value, position] : code_points(text)) {
    const Kind kind = kind_of(static_cast<UChar32>(value));
    const bool is_same = kind == last && (kind == Kind::letter || kind == Kind::digit);
    const bool continues = is_same || (kind == Kind::extension && last != Kind::space);
    const std::size_t end = position + first_character(text.substr(position)).bytes;
    if (continues && !std::ranges::binary_search(cuts, position)) {
      units.back().end = end;
    } else if (kind != Kind::space) {
      units.push_back({.begin = position, .end = end, .continues = continues});
    }
    if (!continues) last = kind == Kind::extension ? Kind::single : kind;
  }
  return units;
}

bool ends_without_space(std::string_view text) {
  if (text.empty()) return false;
  const auto last = static_cast<UChar32>(first_character(text.substr(last_character(text))).value);
  const int width = u_getIntPropertyValue(last, UCHAR_EAST_ASIAN_WIDTH);
  return is_spaceless(last) || width == U_EA_WIDE || width == U_EA_FULLWIDTH;
}

std::vector<PlacedCode> place_codes(std::span<const AlignedWord> words, std::span<const AlignedCode> codes) {
  Element all = element_tree(codes);
  return Placer(words, codes).place(all);
}

}  // namespace encdec
