#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "encdec/models/tokenizer/base/added_token.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// Tokens that are cut out of a text before a model sees it, as Hugging Face's tokenizers 0.23 does it: from left to
// right, of those that begin at one place the longest.
class AddedVocabulary {
 public:
  // A token of the model's vocabulary has its id there; others are numbered in order, from the vocabulary's size on. A
  // token that is there twice is what it is the last time; empty ones are left out. `normalizer` may be empty. Throws
  // TokenizerError, beginning with `name`, for a token of more than 1024 bytes, or two that normalise to the same.
  AddedVocabulary(const std::vector<AddedToken>& tokens, const PieceModel& model, const Normalizer& normalizer,
                  const std::string& name);

  // A part of a text: a token, or what lies between tokens.
  struct Part {
    std::size_t begin;
    std::size_t end;
    std::optional<std::int32_t> id;
  };
  enum class Looking { for_raw_tokens, for_normalized_tokens };
  enum class SpecialTokens { found, ignored };
  // Gives the parts of a text that is not yet (is) normalised to `take`, in order.
  using PartSink = std::function<void(const Part& part)>;
  void find(std::string_view text, Looking looking, SpecialTokens special_tokens, const PartSink& take) const;

  std::optional<std::int32_t> id(std::string_view token) const { return value_of(ids_, token); }
  // Null for an id that no token has.
  const AddedToken* token(std::int32_t id) const;
  // What decoders get for a token: the content, normalised if it is looked for that way. Null for an id that no token
  // has.
  const std::string* decoded(std::int32_t id) const;
  bool is_special(std::string_view token) const { return special_.contains(token); }

 private:
  struct Entry {
    AddedToken token;
    std::string decoded;
  };

  StringMap<std::int32_t> ids_;
  std::unordered_map<std::int32_t, Entry> tokens_;
  std::set<std::string, std::less<>> special_;
  ByteTrie raw_;
  ByteTrie normalized_;
};

}  // namespace encdec
