#include "encdec/translation/text/sentences.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

bool is_space(UChar32 c) {
  return u_isUWhiteSpace(c) != 0;
}

// The macros of ICU below convert integers implicitly.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"

// Returns the offset where the trailing white space of a text begins.
std::size_t end_of_words(std::string_view text) {
  auto position = static_cast<std::int32_t>(text.size());
  while (position > 0) {
    std::int32_t before = position;
    UChar32 c = 0;
    U8_PREV(text.data(), 0, before, c);
    if (!is_space(c)) break;
    position = before;
  }
  return static_cast<std::size_t>(position);
}

// Returns the offset where the leading white space of a text ends.
std::size_t begin_of_words(std::string_view text) {
  std::int32_t position = 0;
  while (static_cast<std::size_t>(position) < text.size()) {
    std::int32_t after = position;
    UChar32 c = 0;
    U8_NEXT(text.data(), after, static_cast<std::int32_t>(text.size()), c);
    if (!is_space(c)) break;
    position = after;
  }
  return static_cast<std::size_t>(position);
}

#pragma GCC diagnostic pop

// Appends a sentence. A text of white space only is added to the previous sentence.
void add(std::vector<Sentence>& sentences, std::string_view text) {
  if (text.empty()) return;
  const std::size_t end = end_of_words(text);
  const std::string_view space = text.substr(end);
  if (end == 0 && !sentences.empty()) {
    sentences.back().space += space;
  } else {
    sentences.push_back({std::string(text.substr(0, end)), std::string(space)});
  }
}

// Returns the byte offsets of the boundaries that `iterator` finds in a text, including the end.
std::vector<std::size_t> boundaries(icu::BreakIterator& iterator, std::string_view text) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::LocalUTextPointer utext(
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &error));
  iterator.setText(utext.getAlias(), error);
  if (U_FAILURE(error)) throw Error(std::string("ICU: ") + u_errorName(error));
  std::vector<std::size_t> positions;
  iterator.first();
  for (std::int32_t position = iterator.next(); position != icu::BreakIterator::DONE; position = iterator.next()) {
    poll_cancelled();
    positions.push_back(static_cast<std::size_t>(position));
  }
  return positions;
}

// A cache of one iterator per thread. Creating an iterator takes longer than finding the boundaries of a paragraph.
struct KeptIterator {
  std::string locale = {};
  std::unique_ptr<icu::BreakIterator> iterator = {};

  icu::BreakIterator& get(const std::string& wanted, icu::BreakIterator* (*make)(const icu::Locale&, UErrorCode&)) {
    if (iterator != nullptr && locale == wanted) return *iterator;
    UErrorCode error = U_ZERO_ERROR;
    std::unique_ptr<icu::BreakIterator> made(make(icu::Locale(wanted.c_str()), error));
    if (U_FAILURE(error)) throw Error(std::string("ICU: ") + u_errorName(error));
    iterator = std::move(made);
    locale = wanted;
    return *iterator;
  }
};

// Both return an iterator that is valid until the next call in this thread. "ss" selects the abbreviations of CLDR.
icu::BreakIterator& sentence_iterator(const std::string& language) {
  thread_local KeptIterator kept;
  return kept.get(language + "@ss=standard", icu::BreakIterator::createSentenceInstance);
}
icu::BreakIterator& word_iterator(const std::string& language) {
  thread_local KeptIterator kept;
  return kept.get(language, icu::BreakIterator::createWordInstance);
}

// Returns true if ICU ends a sentence within a word: after a period that begins the word (".NET"), or between a mark
// and an ASCII character other than a space ("/search?query").
bool is_within_word(std::string_view text, std::size_t position) {
  const auto is_mark = [](char c) { return c == '.' || c == '?' || c == '!'; };
  if (!is_mark(text[position - 1])) return false;
  const bool begins_word = text[position - 1] == '.' && (position == 1 || text[position - 2] == ' ');
  return begins_word || (static_cast<unsigned char>(text[position]) < 0x80 && text[position] != ' ');
}

bool ends_clause(std::string_view text) {
  constexpr std::string_view kMarks[] = {",", ";", ":", "\u3001", "\uff0c", "\uff1b", "\u060c", "\u2014"};
  for (const std::string_view mark : kMarks) {
    if (text.ends_with(mark)) return true;
  }
  return false;
}

// Returns the offset nearest to the middle for which `may_cut` is true; 0 if there is none.
template <class MayCut>
std::size_t cut_near_middle(std::string_view text, const MayCut& may_cut) {
  const std::size_t middle = text.size() / 2;
  for (std::size_t distance = 0; distance <= middle; ++distance) {
    for (const std::size_t position : {middle - distance, middle + distance}) {
      if (position > 0 && position < text.size() && may_cut(position)) return position;
    }
  }
  return 0;
}

// Returns the best offset to split a text, as described at split_to_fit(); 0 if there is none.
std::size_t find_cut(std::string_view text, const std::string& language) {
  const auto begins_word = [text](std::size_t position) {
    constexpr std::size_t kLongestCharacter = 4;
    return !is_continuation(text[position]) && begin_of_words(text.substr(position, kLongestCharacter)) == 0;
  };
  const auto is_after_space = [&](std::size_t position) {
    return begins_word(position) && end_of_words(text.substr(0, position)) < position;
  };
  const auto is_after_clause = [&](std::size_t position) {
    // In Chinese and Japanese, no space follows a punctuation mark.
    const bool may_cut = is_after_space(position) || (begins_word(position) && is_continuation(text[position - 1]));
    return may_cut && ends_clause(text.substr(0, end_of_words(text.substr(0, position))));
  };
  const std::vector<std::size_t> ends = boundaries(sentence_iterator(language), text);
  const auto is_after_sentence = [&](std::size_t position) {
    return std::ranges::binary_search(ends, position) && !is_within_word(text, position);
  };
  if (const std::size_t position = cut_near_middle(text, is_after_sentence)) return position;
  if (const std::size_t position = cut_near_middle(text, is_after_clause)) return position;
  if (const std::size_t position = cut_near_middle(text, is_after_space)) return position;
  return cut_near_middle(text, [text](std::size_t position) { return !is_continuation(text[position]); });
}

}  // namespace

std::vector<Sentence> split_text(std::string_view text, Split split, const std::string& language) {
  std::vector<Sentence> sentences;
  const auto take = [&](std::size_t bytes) {
    add(sentences, text.substr(0, bytes));
    text.remove_prefix(bytes);
  };
  take(begin_of_words(text));
  if (split == Split::never) {
    take(text.size());
    return sentences;
  }
  icu::BreakIterator* iterator = split == Split::newlines ? nullptr : &sentence_iterator(language);
  // Moves sentences from `text` to `sentences`. `part` is the beginning of `text`, or a copy of the same size.
  const auto take_sentences = [&](std::string_view part) {
    std::size_t begin = 0;
    for (const std::size_t end : boundaries(*iterator, part)) {
      if (end < part.size() && is_within_word(part, end)) continue;
      take(end - std::exchange(begin, end));
    }
  };
  if (split == Split::sentences_over_lines) {
    std::string spaced(text);  // a copy in which line ends are spaces
    std::ranges::replace_if(
        spaced, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    take_sentences(spaced);
    return sentences;
  }
  while (!text.empty()) {
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    if (iterator != nullptr) {
      take_sentences(text.substr(0, line_end));
    } else {
      take(line_end);
    }
    take(begin_of_words(text));  // add white space before the next line to the last sentence
  }
  return sentences;
}

std::vector<std::size_t> word_boundaries(std::string_view text, const std::string& language) {
  return boundaries(word_iterator(language), text);
}

std::vector<Sentence> split_to_fit(std::vector<Sentence> sentences, const std::string& language,
                                   const std::function<bool(const std::string&)>& fits) {
  std::vector<Sentence> parts;
  // A stack of texts to check. A text that does not fit is replaced by its two parts.
  std::vector<Sentence> rest(std::make_move_iterator(sentences.rbegin()), std::make_move_iterator(sentences.rend()));
  while (!rest.empty()) {
    Sentence sentence = std::move(rest.back());
    rest.pop_back();
    const std::size_t cut = sentence.text.empty() || fits(sentence.text) ? 0 : find_cut(sentence.text, language);
    if (cut == 0) {
      parts.push_back(std::move(sentence));
      continue;
    }
    const std::size_t end = end_of_words(std::string_view(sentence.text).substr(0, cut));
    rest.push_back({sentence.text.substr(cut), std::move(sentence.space)});
    rest.push_back({sentence.text.substr(0, end), sentence.text.substr(end, cut - end)});
  }
  return parts;
}

}  // namespace encdec
