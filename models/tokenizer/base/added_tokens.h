#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/base/added_token.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/base/vocabulary.h"

namespace encdec {

// Finds words in a text, the longest of those that begin first. The result is that of the class Trie in transformers'
// tokenization_python.py, which is not always what a search from left to right would find.
class WordTrie {
 public:
  void add(std::string_view word);
  // The text, cut before and after every word found; the parts in order, none empty.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct Node {
    std::map<char32_t, std::uint32_t> next;
    bool is_word = false;
  };
  // A word that the text may contain from byte `start` on, and how far it has come.
  struct PartialMatch {
    std::size_t start;
    std::uint32_t node;
  };
  // Bytes of the text.
  struct Range {
    std::size_t start;
    std::size_t end;
  };

  // Gives the words found to `take`, in order.
  template <typename Take>
  void find(std::string_view text, const Take& take) const;
  Range longest(std::string_view text, const std::vector<PartialMatch>& matches, std::size_t whole,
                std::size_t current) const;
  // The node after `node`, which is never the root; 0 if no word goes on like that.
  std::uint32_t step(std::uint32_t node, std::string_view text, std::size_t position) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
};

// The tokens that a checkpoint's files add to its vocabulary, and its special tokens, as in transformers' tokenizers
// that have no tokenizer.json (class PythonBackend): they are cut out of the text before it is made into pieces.
class AddedTokens {
 public:
  // Special tokens that are not among `tokens` are added: with their id in `vocabulary`, else with the next free one.
  AddedTokens(std::map<std::int32_t, AddedToken> tokens, const std::vector<std::string>& special_tokens,
              const Vocabulary& vocabulary);

  struct Part {
    std::string text;
    bool is_token;
  };
  // The text cut at the tokens, and stripped around them as they ask for; no part is empty.
  std::vector<Part> split(std::string_view text) const;

  std::optional<std::int32_t> id(std::string_view token) const { return value_of(ids_, token); }
  // Null for an id that no token has.
  const std::string* token(std::int32_t id) const;
  bool is_special(std::string_view token) const { return special_.contains(token); }
  bool is_special(std::int32_t id) const { return special_ids_.contains(id); }

 private:
  std::map<std::int32_t, AddedToken> tokens_;
  std::map<std::string, std::int32_t, std::less<>> ids_;  // may know tokens whose id another token took over
  std::set<std::string, std::less<>> special_;
  std::set<std::int32_t> special_ids_;
  WordTrie trie_;
};

}  // namespace encdec
