#include "encdec/models/translation/text/inline_codes.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace encdec {
namespace {

// A pair of codes of the source with what is between them, or a code that stands alone.
struct Element {
  std::optional<std::size_t> begin_code = {}, end_code = {};  // their indices
  // Units inside the element: from `begin` to before `end`.
  std::size_t begin = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
  bool begins_here = true, ends_here = true;  // its begin code, its end code is in this sentence
  std::vector<Element> children = {};
  // Words put inside the element: from `first_word` to before `end_word`.
  std::size_t first_word = 0, end_word = 0;
};

// Returns an element without codes whose descendants are all elements of the sentence.
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
        } else {  // its element began in an earlier sentence, so it contains everything before this code
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

class Placer {
 public:
  explicit Placer(std::span<const AlignedWord> words) : words_(words) {}

  std::vector<PlacedCode> place(Element& all) {
    all.end_word = words_.size();
    choose_words(all);
    place_children(all);
    return std::move(placed_);
  }

 private:
  // Divides the words of `parent` among its children.
  void choose_words(Element& parent) {
    std::vector<bool> is_taken(words_.size());
    for (Element& child : parent.children) {
      if (child.begin < child.end) choose_range(parent, is_taken, child);
      if (child.first_word == child.end_word) continue;
      for (std::size_t word = child.first_word; word < child.end_word; ++word) is_taken[word] = true;
      choose_words(child);
    }
    for (Element& child : parent.children) {
      if (child.first_word == child.end_word) choose_place(parent, child);
    }
    std::ranges::stable_sort(parent.children, {},
                             [](const Element& child) { return std::pair(child.first_word, child.end_word); });
  }

  // Gives `child` the contiguous words with the largest sum among those not taken, if the sum is above 0.
  void choose_range(const Element& parent, const std::vector<bool>& is_taken, Element& child) const {
    int sum = 0, best = 0;
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
      sum += words_[word].unit >= child.begin && words_[word].unit < child.end ? 1 : -1;
      if (sum <= best || (!child.ends_here && word + 1 < parent.end_word)) continue;
      best = sum;
      child.first_word = begin;
      child.end_word = word + 1;
    }
  }

  // Chooses the place of a child without words: in front of the word for the first unit after it, but not inside a
  // sibling.
  void choose_place(const Element& parent, Element& child) const {
    std::size_t place = parent.end_word;
    for (std::size_t word = parent.end_word; word-- > parent.first_word;) {
      if (words_[word].unit < child.begin) continue;
      if (place == parent.end_word || words_[word].unit <= words_[place].unit) place = word;
    }
    if (!child.begins_here) place = parent.first_word;
    if (!child.ends_here) place = parent.end_word;
    for (const Element& sibling : parent.children) {
      if (sibling.first_word < place && place < sibling.end_word) place = sibling.end_word;
    }
    child.first_word = child.end_word = place;
  }

  void place_children(const Element& parent) {
    for (const Element& child : parent.children) {
      const bool is_behind = child.first_word == parent.end_word;
      if (child.begins_here) go_on_to(is_behind ? end_of(parent) : words_[child.first_word].begin);
      add(child.begin_code);
      if (child.first_word < child.end_word) {
        place_children(child);
        if (child.ends_here) go_on_to(end_of(child));
      } else {
        place_empty(child);
      }
      add(child.end_code);
    }
  }

  // Places the descendants of an element without words. They have no words either.
  void place_empty(const Element& element) {
    for (const Element& child : element.children) {
      add(child.begin_code);
      place_empty(child);
      add(child.end_code);
    }
  }

  std::size_t end_of(const Element& element) const {
    return element.end_word == 0 ? 0 : words_[element.end_word - 1].end;
  }

  void go_on_to(std::size_t place) { place_ = std::max(place_, place); }
  void add(const std::optional<std::size_t>& code) {
    if (code) placed_.push_back({.code = *code, .place = place_});
  }

  std::span<const AlignedWord> words_;
  std::vector<PlacedCode> placed_;
  std::size_t place_ = 0;  // current position in the translation
};

}  // namespace

std::vector<PlacedCode> place_codes(std::span<const AlignedWord> words, std::span<const AlignedCode> codes) {
  Element all = element_tree(codes);
  return Placer(words).place(all);
}

}  // namespace encdec
