#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec::pre_tokenizers {
namespace {

void add_word(const PipelineText& text, std::size_t begin, std::size_t end, const WordSink& take) {
  if (begin < end) take(text.slice(begin, end));
}

// Splits a text into words at matches, according to a SplitBehavior.
// Order of calls: add_match* finish, with the matches in order.
class Splitter {
 public:
  Splitter(const PipelineText& text, SplitOptions options, const WordSink& take)
      : text_(text), options_(options), take_(take) {}

  void add_match(std::size_t begin, std::size_t end) {
    add_text_until(begin);
    add({begin, end, !options_.invert});
    added_ = end;
  }

  void finish() {
    add_text_until(text_.text.size());
    if (has_last_) put(last_);
  }

 private:
  struct Part {
    std::size_t begin;
    std::size_t end;
    bool is_match;
  };

  void add_text_until(std::size_t end) {
    if (added_ != end) add({added_, end, options_.invert});
  }

  void add(const Part& part) {
    switch (options_.behavior) {
      case SplitBehavior::removed:
        if (!part.is_match) put(part);
        return;
      case SplitBehavior::isolated: return put(part);
      case SplitBehavior::contiguous: return add_to_last(part, last_.is_match == part.is_match);
      // If several matches are adjacent, only the match next to other text is joined to that text.
      case SplitBehavior::merged_with_previous: return add_to_last(part, part.is_match && !last_.is_match);
      case SplitBehavior::merged_with_next: return add_to_last(part, last_.is_match && !part.is_match);
    }
  }

  void put(const Part& part) const { add_word(text_, part.begin, part.end, take_); }

  // Joins `part` to last_ if `fits_last`. Otherwise emits last_, and `part` becomes last_. The joined part counts as a
  // match if `part` is a match.
  void add_to_last(const Part& part, bool fits_last) {
    const bool is_joined = has_last_ && fits_last;
    if (has_last_ && !is_joined) put(last_);
    last_ = {is_joined ? last_.begin : part.begin, part.end, part.is_match};
    has_last_ = true;
  }

  const PipelineText& text_;
  SplitOptions options_;
  const WordSink& take_;
  std::size_t added_ = 0;  // end of the last match
  Part last_{};
  bool has_last_ = false;
};

// Splits a text at the characters for which `is_match` is true.
template <typename IsMatch>
void split_characters(const PipelineText& text, const IsMatch& is_match, SplitBehavior behavior, const WordSink& take) {
  Splitter splitter(text, {.behavior = behavior}, take);
  for (std::size_t begin = 0, end = 0; begin < text.text.size(); begin = end) {
    poll_cancelled();
    const Character c = first_character(std::string_view(text.text).substr(begin));
    end = begin + c.bytes;
    if (is_match(c.value)) splitter.add_match(begin, end);
  }
  splitter.finish();
}

template <typename IsMatch>
PreTokenizer character_split(IsMatch is_match, SplitBehavior behavior) {
  return [=](const PipelineText& text, const WordSink& take) { split_characters(text, is_match, behavior, take); };
}

// The character classes of GPT-2's word pattern.
enum class CharacterKind { letter, number, space, other };

CharacterKind kind_of(char32_t c) {
  if (is_white_space(c)) return CharacterKind::space;
  if (is_letter(c)) return CharacterKind::letter;
  return is_number(c) ? CharacterKind::number : CharacterKind::other;
}

// Returns the size of an English contraction at the beginning of `text`; 0 if there is none.
std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

// Returns the size of the match of GPT-2's word pattern at the beginning of `text`:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// The pattern always matches, so there are no gaps between words.
std::size_t gpt2_word(std::string_view text) {
  if (const std::size_t length = contraction(text); length > 0) return length;
  const auto end_of = [&](std::size_t begin, CharacterKind kind) {
    return begin + leading_bytes(text.substr(begin), [&](char32_t c) { return kind_of(c) == kind; });
  };
  const std::size_t begin = text[0] == ' ' ? 1 : 0;
  if (begin < text.size()) {
    const CharacterKind kind = kind_of(first_character(text.substr(begin)).value);
    if (kind != CharacterKind::space) return end_of(begin, kind);
  }
  const std::size_t end = end_of(0, CharacterKind::space);
  if (end == text.size()) return end;
  // Leave the last space for the next word, unless there is only one space.
  const std::size_t last = last_character(text.substr(0, end));
  return last > 0 ? last : end;
}

}  // namespace

PreTokenizer sequence(std::vector<PreTokenizer> parts) {
  return [parts = std::move(parts)](PipelineText&& text, const WordSink& take) {
    if (text.text.empty()) return;
    std::vector<std::size_t> bytes(parts.size());  // total bytes of each part's words
    std::vector<WordSink> steps(parts.size());     // step i receives the words of part i, and calls part i + 1
    for (std::size_t i = 0; i < parts.size(); ++i) {
      steps[i] = [&, i](PipelineText&& word) {
        check_rewritten_size(bytes[i] += word.text.size());
        i + 1 < parts.size() ? parts[i + 1](std::move(word), steps[i + 1]) : take(std::move(word));
      };
    }
    parts.empty() ? take(std::move(text)) : parts[0](std::move(text), steps[0]);
  };
}

PreTokenizer whitespace_split() {
  return character_split(is_white_space, SplitBehavior::removed);
}

void whitespace(const PipelineText& text, const WordSink& take) {
  enum class Kind { space, word, other };
  const auto kind_of = [](char32_t c) {
    if (is_word_character(c)) return Kind::word;
    return is_white_space(c) ? Kind::space : Kind::other;
  };
  std::string_view rest = text.text;
  for (std::size_t begin = 0, end = 0; !rest.empty(); rest.remove_prefix(end - begin), begin = end) {
    const Kind kind = kind_of(first_character(rest).value);
    end = begin + leading_bytes(rest, [&](char32_t c) { return kind_of(c) == kind; });
    if (kind != Kind::space) add_word(text, begin, end, take);
  }
}

PreTokenizer bert() {
  return sequence({whitespace_split(), punctuation(SplitBehavior::isolated)});
}

PreTokenizer metaspace(MetaspaceOptions options) {
  return [options = std::move(options)](PipelineText&& text, const WordSink& take) {
    TextRewriter rewriter(text);
    while (!rewriter.rest().empty()) {
      rewriter.keep(std::min(rewriter.rest().find(' '), rewriter.rest().size()));
      if (rewriter.rest().empty()) break;
      rewriter.replace(1, options.replacement);
    }
    rewriter.finish();
    const bool wanted =
        options.prepend == PrependScheme::always || (options.prepend == PrependScheme::first && text.is_first);
    if (wanted && !text.text.starts_with(options.replacement)) text.prepend(options.replacement);
    if (!options.split) {
      if (!text.text.empty()) take(std::move(text));
      return;
    }
    const char32_t replacement = first_character(options.replacement).value;
    const auto is_match = [&](char32_t c) { return c == replacement; };
    split_characters(text, is_match, SplitBehavior::merged_with_next, take);
  };
}

PreTokenizer byte_level(ByteLevelOptions options) {
  return [options](PipelineText&& text, const WordSink& take) {
    if (options.add_prefix_space && !text.text.starts_with(' ')) text.prepend(" ");
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < text.text.size(); begin = end) {
      const std::string_view rest = std::string_view(text.text).substr(begin);
      end = begin + (options.use_regex ? gpt2_word(rest) : rest.size());
      PipelineText word = std::move(text).slice(begin, end);  // moves only if the word is all of the text
      word.to_byte_characters();
      take(std::move(word));
    }
  };
}

PreTokenizer split(Pattern pattern, SplitOptions options) {
  return [pattern = std::move(pattern), options](const PipelineText& text, const WordSink& take) {
    Splitter splitter(text, options, take);
    pattern(text.text, [&](const PatternMatch& match) { splitter.add_match(match.begin, match.end); });
    splitter.finish();
  };
}

PreTokenizer punctuation(SplitBehavior behavior) {
  return character_split(is_punctuation, behavior);
}

PreTokenizer digits(SplitBehavior behavior) {
  return character_split(is_number, behavior);
}

PreTokenizer char_delimiter_split(const std::string& delimiter) {
  const char32_t wanted = first_character(delimiter).value;
  return character_split([wanted](char32_t c) { return c == wanted; }, SplitBehavior::removed);
}

PreTokenizer fixed_length(std::size_t length) {
  return [length](const PipelineText& text, const WordSink& take) {
    const std::string_view all = text.text;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      for (std::size_t i = 0; i < length && end < all.size(); ++i) end += first_character(all.substr(end)).bytes;
      add_word(text, begin, end, take);
    }
  };
}

}  // namespace encdec::pre_tokenizers
