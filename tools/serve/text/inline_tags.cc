#include "serve/text/inline_tags.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "serve/text/html.h"

namespace encdec::serve {
namespace {

// An element of the source, or a tag without an element.
struct Element {
  std::string_view begin_tag = {}, end_tag = {};
  // Units inside the element: from `begin` to before `end`.
  std::size_t begin = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
  bool begins_here = true, ends_here = true;  // its begin tag, its end tag is in this sentence
  std::vector<Element> children = {};
  // Words put inside the element: from `first_word` to before `end_word`.
  std::size_t first_word = 0, end_word = 0;
};

// Returns an element without tags whose descendants are all elements of the sentence.
Element element_tree(std::span<const AlignedTag> tags) {
  std::vector<Element> open(1);
  const auto close = [&open](bool ends_here) {
    Element done = std::move(open.back());
    open.pop_back();
    done.ends_here = ends_here;
    open.back().children.push_back(std::move(done));
  };
  for (const AlignedTag& tag : tags) {
    switch (tag.kind) {
      case AlignedTag::Kind::alone:
        open.back().children.push_back({.begin_tag = tag.markup, .begin = tag.unit, .end = tag.unit});
        break;
      case AlignedTag::Kind::begin: open.push_back({.begin_tag = tag.markup, .begin = tag.unit}); break;
      case AlignedTag::Kind::end:
        if (tag.is_whole && open.size() > 1) {
          open.back().end_tag = tag.markup;
          open.back().end = tag.unit;
          close(true);
        } else {  // its element began in an earlier sentence, so it contains everything before this tag
          Element whole{.end_tag = tag.markup, .end = tag.unit, .begins_here = false};
          std::swap(whole.children, open.back().children);
          open.back().children.push_back(std::move(whole));
        }
        break;
    }
  }
  while (open.size() > 1) close(false);
  return std::move(open.front());
}

class Writer {
 public:
  Writer(std::string_view text, std::span<const AlignedWord> words) : text_(text), words_(words) {}

  std::string write(Element& all) {
    all.end_word = words_.size();
    choose_words(all);
    write_children(all);
    write_until(text_.size());
    return std::move(html_);
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

  void write_children(const Element& parent) {
    for (const Element& child : parent.children) {
      const bool is_behind = child.first_word == parent.end_word;
      if (child.begins_here) write_until(is_behind ? end_of(parent) : words_[child.first_word].begin);
      html_ += child.begin_tag;
      if (child.first_word < child.end_word) {
        write_children(child);
        if (child.ends_here) write_until(end_of(child));
      } else {
        write_empty(child);
      }
      html_ += child.end_tag;
    }
  }

  // Writes an element without words. Its descendants have no words either.
  void write_empty(const Element& element) {
    for (const Element& child : element.children) {
      html_ += child.begin_tag;
      write_empty(child);
      html_ += child.end_tag;
    }
  }

  std::size_t end_of(const Element& element) const {
    return element.end_word == 0 ? 0 : words_[element.end_word - 1].end;
  }

  void write_until(std::size_t end) {
    if (end <= written_) return;
    html_ += escape_html(text_.substr(written_, end - written_));
    written_ = end;
  }

  std::string_view text_;
  std::span<const AlignedWord> words_;
  std::string html_;
  std::size_t written_ = 0;  // bytes of the text that are written
};

}  // namespace

std::string with_tags(std::string_view text, std::span<const AlignedWord> words, std::span<const AlignedTag> tags) {
  Element all = element_tree(tags);
  return Writer(text, words).write(all);
}

}  // namespace encdec::serve
