#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec::pre_tokenizers {
namespace {

// A part of a text that is a match, or lies between matches.
struct Part {
  std::size_t begin;
  std::size_t end;
  bool is_match;
};

void add_word(const PipelineText& text, std::size_t begin, std::size_t end, std::vector<PipelineText>& words) {
  if (begin < end) words.push_back(text.slice(begin, end));
}

// Joins matches with what is beside them, in the order in which the parts are given.
template <typename Parts>
std::vector<Part> merge_matches(const Parts& parts) {
  std::vector<Part> merged;
  bool after_match = false;
  for (const Part& part : parts) {
    if (part.is_match && !after_match && !merged.empty()) {
      merged.back().begin = std::min(merged.back().begin, part.begin);
      merged.back().end = std::max(merged.back().end, part.end);
    } else {
      merged.push_back(part);
    }
    after_match = part.is_match;
  }
  return merged;
}

std::vector<Part> join_equal(const std::vector<Part>& parts) {
  std::vector<Part> joined;
  for (const Part& part : parts) {
    if (!joined.empty() && joined.back().is_match == part.is_match) {
      joined.back().end = part.end;
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

// `parts` are in order and cover the text.
void split_at(const PipelineText& text, std::vector<Part> parts, SplitBehavior behavior,
              std::vector<PipelineText>& words) {
  switch (behavior) {
    case SplitBehavior::removed: std::erase_if(parts, [](const Part& part) { return part.is_match; }); break;
    case SplitBehavior::isolated: break;
    case SplitBehavior::contiguous: parts = join_equal(parts); break;
    case SplitBehavior::merged_with_previous: parts = merge_matches(parts); break;
    case SplitBehavior::merged_with_next:
      std::reverse(parts.begin(), parts.end());
      parts = merge_matches(parts);
      std::reverse(parts.begin(), parts.end());
      break;
  }
  for (const Part& part : parts) add_word(text, part.begin, part.end, words);
}

// Every character that is one of those is a match.
template <typename IsMatch>
std::vector<Part> character_parts(std::string_view text, IsMatch is_match) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  for (std::size_t position = 0; position < text.size();) {
    const Character c = first_character(text.substr(position));
    if (is_match(c.value)) {
      if (begin < position) parts.push_back({begin, position, false});
      parts.push_back({position, position + c.bytes, true});
      begin = position + c.bytes;
    }
    position += c.bytes;
  }
  if (begin < text.size()) parts.push_back({begin, text.size(), false});
  return parts;
}

std::vector<Part> pattern_parts(std::string_view text, const Pattern& pattern) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  for (const PatternMatch& match : pattern(text)) {
    if (begin != match.begin) parts.push_back({begin, match.begin, false});
    parts.push_back({match.begin, match.end, true});
    begin = match.end;
  }
  if (begin != text.size()) parts.push_back({begin, text.size(), false});
  return parts;
}

// Cuts at characters of a class.
template <typename IsMatch>
PreTokenizer character_split(IsMatch is_match, SplitBehavior behavior) {
  return [=](const PipelineText& text, std::vector<PipelineText>& words) {
    split_at(text, character_parts(text.text, is_match), behavior, words);
  };
}

enum class CharacterKind { letter, number, space, other };

CharacterKind kind_of(char32_t c) {
  if (is_white_space(c)) return CharacterKind::space;
  if (is_letter(c)) return CharacterKind::letter;
  return is_number(c) ? CharacterKind::number : CharacterKind::other;
}

std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

// Bytes of the first match, which begins at the beginning, of GPT-2's pattern for words:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// One match follows another without gaps. `valid` is not empty.
std::size_t gpt2_word(std::string_view valid) {
  if (const std::size_t length = contraction(valid); length > 0) return length;
  const auto end_of = [&](std::size_t begin, CharacterKind kind) {
    return begin + leading_bytes(valid.substr(begin), [&](char32_t c) { return kind_of(c) == kind; });
  };
  const std::size_t begin = valid[0] == ' ' ? 1 : 0;
  if (begin < valid.size()) {
    const CharacterKind kind = kind_of(first_character(valid.substr(begin)).value);
    if (kind != CharacterKind::space) return end_of(begin, kind);
  }
  const std::size_t end = end_of(0, CharacterKind::space);
  if (end == valid.size()) return end;
  // The last space belongs to the word that follows, unless it is the only one.
  const std::size_t last = last_character(valid.substr(0, end));
  return last > 0 ? last : end;
}

}  // namespace

PreTokenizer sequence(std::vector<PreTokenizer> parts) {
  return [parts = std::move(parts)](PipelineText text, std::vector<PipelineText>& words) {
    if (text.text.empty()) return;
    std::vector<PipelineText> current;
    current.push_back(std::move(text));
    for (const PreTokenizer& part : parts) {
      std::vector<PipelineText> next;
      std::size_t bytes = 0;
      for (PipelineText& word : current) {
        const std::size_t before = next.size();
        part(std::move(word), next);
        for (std::size_t i = before; i < next.size(); ++i) bytes += next[i].text.size();
        check_rewritten(bytes);
      }
      current = std::move(next);
    }
    std::move(current.begin(), current.end(), std::back_inserter(words));
  };
}

PreTokenizer whitespace_split() {
  return character_split(is_white_space, SplitBehavior::removed);
}

void whitespace(const PipelineText& text, std::vector<PipelineText>& words) {
  enum class Kind { space, word, other };
  const auto kind_of = [](char32_t c) {
    if (is_word_character(c)) return Kind::word;
    return is_white_space(c) ? Kind::space : Kind::other;
  };
  std::string_view rest = text.text;
  for (std::size_t begin = 0, end = 0; !rest.empty(); rest.remove_prefix(end - begin), begin = end) {
    const Kind kind = kind_of(first_character(rest).value);
    end = begin + leading_bytes(rest, [&](char32_t c) { return kind_of(c) == kind; });
    if (kind != Kind::space) add_word(text, begin, end, words);
  }
}

PreTokenizer bert() {
  return sequence({whitespace_split(), punctuation(SplitBehavior::isolated)});
}

PreTokenizer metaspace(MetaspaceOptions options) {
  return [options = std::move(options)](PipelineText text, std::vector<PipelineText>& words) {
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
      if (!text.text.empty()) words.push_back(std::move(text));
      return;
    }
    const char32_t replacement = first_character(options.replacement).value;
    const auto parts = character_parts(text.text, [&](char32_t c) { return c == replacement; });
    split_at(text, parts, SplitBehavior::merged_with_next, words);
  };
}

PreTokenizer byte_level(ByteLevelOptions options) {
  return [options](PipelineText&& text, std::vector<PipelineText>& words) {
    if (options.add_prefix_space && !text.text.starts_with(' ')) text.prepend(" ");
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < text.text.size(); begin = end) {
      const std::string_view rest = std::string_view(text.text).substr(begin);
      end = begin + (options.use_regex ? gpt2_word(rest) : rest.size());
      words.push_back(text.slice(begin, end));
      words.back().to_byte_characters();
    }
  };
}

PreTokenizer split(Pattern pattern, SplitOptions options) {
  return [pattern = std::move(pattern), options](const PipelineText& text, std::vector<PipelineText>& words) {
    std::vector<Part> parts = pattern_parts(text.text, pattern);
    for (Part& part : parts) part.is_match = part.is_match != options.invert;
    split_at(text, std::move(parts), options.behavior, words);
  };
}

PreTokenizer punctuation(SplitBehavior behavior) {
  return character_split(is_punctuation, behavior);
}

PreTokenizer digits(DigitsOptions options) {
  return character_split(is_number, options.individual ? SplitBehavior::isolated : SplitBehavior::contiguous);
}

PreTokenizer char_delimiter_split(const std::string& delimiter) {
  const char32_t wanted = first_character(delimiter).value;
  return character_split([wanted](char32_t c) { return c == wanted; }, SplitBehavior::removed);
}

PreTokenizer fixed_length(std::size_t length) {
  return [length](const PipelineText& text, std::vector<PipelineText>& words) {
    const std::string_view all = text.text;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      for (std::size_t i = 0; i < length && end < all.size(); ++i) end += first_character(all.substr(end)).bytes;
      add_word(text, begin, end, words);
    }
  };
}

}  // namespace encdec::pre_tokenizers
