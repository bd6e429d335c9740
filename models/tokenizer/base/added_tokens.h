#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {

// A set of words to find in a text. The earliest match wins; among matches with the same start, the longest wins. The
// results are the same as with class Trie in transformers' tokenization_python.py. In rare cases, they differ from a
// plain search from left to right.
class WordTrie {
 public:
  void add(std::string_view word);
  // Splits the text before and after every word found. Returns the parts in order; no part is empty.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct Node {
    std::map<char32_t, std::uint32_t> next;
    bool is_word = false;
  };
  // An unfinished match. It begins at byte `start`; the characters read so far lead to `node`.
  struct PartialMatch {
    std::size_t start;
    std::uint32_t node;
  };
  struct Range {  // bytes of the text
    std::size_t start;
    std::size_t end;
  };

  Range longest(std::string_view text, const std::vector<PartialMatch>& matches, std::size_t whole,
                std::size_t current) const;
  // Returns the child of `node` for the character at byte `position`, or the root, 0, if there is none.
  std::uint32_t step(std::uint32_t node, std::string_view text, std::size_t position) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
};

// A checkpoint's special tokens and the tokens that its files add to the vocabulary. They are split off before the rest
// of the text is tokenized, as in transformers' PythonBackend, the class of tokenizers without a tokenizer.json.
class AddedTokens {
 public:
  // Adds the special tokens that `tokens` lacks, with their id in `vocabulary` or else the next free id.
  AddedTokens(std::map<std::int32_t, AddedToken> tokens, const std::vector<std::string>& special_tokens,
              const Vocabulary& vocabulary);

  struct Part {
    std::string text;
    bool is_token;
  };
  // Splits the text at the tokens. Strips whitespace around tokens with strip_left or strip_right. No part is empty.
  std::vector<Part> split(std::string_view text) const;

  std::optional<std::int32_t> id(std::string_view token) const { return value_of(ids_, token); }
  // Returns the token's content, or null if no added token has this id.
  const std::string* token(std::int32_t id) const;
  bool is_special(std::string_view token) const { return special_.contains(token); }
  bool is_special(std::int32_t id) const { return special_ids_.contains(id); }

 private:
  std::map<std::int32_t, AddedToken> tokens_;
  // May still contain a token whose id now belongs to a later token.
  std::map<std::string, std::int32_t, std::less<>> ids_;
  std::set<std::string, std::less<>> special_;
  std::set<std::int32_t> special_ids_;
  WordTrie trie_;
};

}  // namespace encdec
