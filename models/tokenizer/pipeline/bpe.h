#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/merge_pairs.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// Byte-pair encoding: a word's characters are merged by merge_pairs, the earliest merge of the list first.
class Bpe final : public VocabularyModel {
 public:
  struct Options {
    Vocabulary vocabulary;
    std::vector<std::pair<std::string, std::string>> merges = {};  // the most frequent first
    std::optional<std::string> unknown_token = {};  // absent: characters that the vocabulary lacks are left out
    std::string continuing_subword_prefix = {};     // of every character but a word's first
    std::string end_of_word_suffix = {};            // of a word's last character
    bool fuse_unknown = false;                      // unknown characters in a row are one
    bool byte_fallback = false;  // an unknown character becomes <0xNN> for each of its bytes, if those all exist
    bool ignore_merges = false;  // a word that is a piece is that piece
  };

  // Throws TokenizerError, beginning with `name`, if a merge's parts or result are not in the vocabulary.
  Bpe(Options options, const std::string& name);

  std::string_view kind() const override { return "BPE"; }
  void tokenize(std::string_view word, std::vector<std::int32_t>& ids) const override;

 private:
  using Merge = PairMerge<std::uint32_t, std::int32_t>;

  std::vector<std::int32_t> symbols(std::string_view word) const;

  std::unordered_map<std::uint64_t, Merge> merges_;  // by the ids of both parts
  std::optional<std::string> unknown_token_;
  std::string continuing_subword_prefix_;
  std::string end_of_word_suffix_;
  bool fuse_unknown_;
  bool byte_fallback_;
  bool ignore_merges_;
};

}  // namespace encdec
