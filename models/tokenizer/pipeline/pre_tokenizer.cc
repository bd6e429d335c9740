#include "encdec/models/tokenizer/pipeline/pre_tokenizer.h"

#include <algorithm>

#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/gpt2_words.h"

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
  for (const Pattern::Match& match : pattern.find_all(text)) {
    if (begin != match.begin) parts.push_back({begin, match.begin, false});
    parts.push_back({match.begin, match.end, true});
    begin = match.end;
  }
  if (begin != text.size()) parts.push_back({begin, text.size(), false});
  return parts;
}

class Sequence final : public PreTokenizer {
 public:
  explicit Sequence(std::vector<PreTokenizerPtr> parts) : parts_(std::move(parts)) {}

  void split(PipelineText text, std::vector<PipelineText>& words) const override {
    if (parts_.empty()) return add_all(std::move(text), words);
    std::vector<PipelineText> current;
    current.push_back(std::move(text));
    for (const PreTokenizerPtr& part : parts_) {
      std::vector<PipelineText> next;
      std::size_t bytes = 0;
      for (PipelineText& word : current) {
        const std::size_t before = next.size();
        part->split(std::move(word), next);
        for (std::size_t i = before; i < next.size(); ++i) bytes += next[i].text.size();
        check_rewritten(bytes);
      }
      current = std::move(next);
    }
    std::move(current.begin(), current.end(), std::back_inserter(words));
  }

 private:
  static void add_all(PipelineText text, std::vector<PipelineText>& words) {
    if (!text.text.empty()) words.push_back(std::move(text));
  }

  std::vector<PreTokenizerPtr> parts_;
};

// Cuts at characters of a class.
template <bool (*kIsMatch)(char32_t)>
class CharacterSplit final : public PreTokenizer {
 public:
  explicit CharacterSplit(SplitBehavior behavior) : behavior_(behavior) {}

  void split(PipelineText text, std::vector<PipelineText>& words) const override {
    split_at(text, character_parts(text.text, kIsMatch), behavior_, words);
  }

 private:
  SplitBehavior behavior_;
};

class Whitespace final : public PreTokenizer {
 public:
  void split(PipelineText text, std::vector<PipelineText>& words) const override {
    enum class Kind { space, word, other };
    const auto kind_of = [](char32_t c) {
      if (is_word_character(c)) return Kind::word;
      return is_white_space(c) ? Kind::space : Kind::other;
    };
    std::size_t begin = 0;
    Kind kind = Kind::space;
    for (std::size_t position = 0; position < text.text.size();) {
      const Character c = first_character(std::string_view(text.text).substr(position));
      const Kind found = kind_of(c.value);
      if (found != kind) {
        if (kind != Kind::space) add_word(text, begin, position, words);
        begin = position;
        kind = found;
      }
      position += c.bytes;
    }
    if (kind != Kind::space) add_word(text, begin, text.text.size(), words);
  }
};

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(MetaspaceOptions options) : options_(std::move(options)) {}

  void split(PipelineText text, std::vector<PipelineText>& words) const override {
    TextRewriter rewriter(text);
    while (!rewriter.rest().empty()) {
      rewriter.keep(std::min(rewriter.rest().find(' '), rewriter.rest().size()));
      if (rewriter.rest().empty()) break;
      rewriter.replace(1, options_.replacement);
    }
    rewriter.finish();
    const bool wanted =
        options_.prepend == PrependScheme::always || (options_.prepend == PrependScheme::first && text.is_first);
    if (wanted && !text.text.starts_with(options_.replacement)) text.prepend(options_.replacement);
    if (!options_.split) {
      if (!text.text.empty()) words.push_back(std::move(text));
      return;
    }
    const char32_t replacement = first_character(options_.replacement).value;
    const auto parts = character_parts(text.text, [&](char32_t c) { return c == replacement; });
    split_at(text, parts, SplitBehavior::merged_with_next, words);
  }

 private:
  MetaspaceOptions options_;
};

class ByteLevel final : public PreTokenizer {
 public:
  explicit ByteLevel(ByteLevelOptions options) : options_(options) {}

  void split(PipelineText text, std::vector<PipelineText>& words) const override {
    if (options_.add_prefix_space && !text.text.starts_with(' ')) text.prepend(" ");
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < text.text.size(); begin = end) {
      const std::string_view rest = std::string_view(text.text).substr(begin);
      end = begin + (options_.use_regex ? gpt2_word(rest) : rest.size());
      words.push_back(text.slice(begin, end));
      words.back().to_byte_characters();
    }
  }

 private:
  ByteLevelOptions options_;
};

class Split final : public PreTokenizer {
 public:
  Split(Pattern pattern, SplitOptions options) : pattern_(std::move(pattern)), options_(options) {}

  void split(PipelineText text, std::vector<PipelineText>& words) const override {
    std::vector<Part> parts = pattern_parts(text.text, pattern_);
    if (options_.invert) {
      for (Part& part : parts) part.is_match = !part.is_match;
    }
    split_at(text, std::move(parts), options_.behavior, words);
  }

 private:
  Pattern pattern_;
  SplitOptions options_;
};

class CharDelimiterSplit final : public PreTokenizer {
 public:
  explicit CharDelimiterSplit(const std::string& delimiter) : delimiter_(first_character(delimiter).value) {}

  void split(PipelineText text, std::vector<PipelineText>& words) const override {
    const auto parts = character_parts(text.text, [&](char32_t c) { return c == delimiter_; });
    split_at(text, parts, SplitBehavior::removed, words);
  }

 private:
  char32_t delimiter_;
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(std::size_t length) : length_(length) {}

  void split(PipelineText text, std::vector<PipelineText>& words) const override {
    std::size_t begin = 0;
    std::size_t characters = 0;
    for (std::size_t position = 0; position < text.text.size();) {
      if (characters == length_) {
        add_word(text, begin, position, words);
        begin = position;
        characters = 0;
      }
      position += first_character(std::string_view(text.text).substr(position)).bytes;
      ++characters;
    }
    add_word(text, begin, text.text.size(), words);
  }

 private:
  std::size_t length_;
};

}  // namespace

PreTokenizerPtr sequence(std::vector<PreTokenizerPtr> parts) {
  return std::make_unique<Sequence>(std::move(parts));
}
PreTokenizerPtr whitespace_split() {
  return std::make_unique<CharacterSplit<is_white_space>>(SplitBehavior::removed);
}
PreTokenizerPtr whitespace() {
  return std::make_unique<Whitespace>();
}
PreTokenizerPtr bert() {
  std::vector<PreTokenizerPtr> parts;
  parts.push_back(whitespace_split());
  parts.push_back(punctuation(SplitBehavior::isolated));
  return sequence(std::move(parts));
}
PreTokenizerPtr metaspace(MetaspaceOptions options) {
  return std::make_unique<Metaspace>(std::move(options));
}
PreTokenizerPtr byte_level(ByteLevelOptions options) {
  return std::make_unique<ByteLevel>(options);
}
PreTokenizerPtr split(Pattern pattern, SplitOptions options) {
  return std::make_unique<Split>(std::move(pattern), options);
}
PreTokenizerPtr punctuation(SplitBehavior behavior) {
  return std::make_unique<CharacterSplit<is_punctuation>>(behavior);
}
PreTokenizerPtr digits(DigitsOptions options) {
  return std::make_unique<CharacterSplit<is_number>>(options.individual ? SplitBehavior::isolated
                                                                        : SplitBehavior::contiguous);
}
PreTokenizerPtr char_delimiter_split(const std::string& delimiter) {
  return std::make_unique<CharDelimiterSplit>(delimiter);
}
PreTokenizerPtr fixed_length(std::size_t length) {
  return std::make_unique<FixedLength>(length);
}

}  // namespace encdec::pre_tokenizers
