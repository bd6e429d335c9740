#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/pipeline/normalizer.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {

// The tokens that are split off before the model reads a text, as in Hugging Face's tokenizers 0.23. Searches from left
// to right, and chooses the longest token at each position.
class AddedVocabulary {
 public:
  // Tokens that the model's vocabulary lacks get new ids in order, starting at the size of the vocabulary. If a token
  // occurs twice, the last entry counts. Empty tokens are skipped. `normalizer` may be empty. Throws TokenizerError,
  // beginning with `name`, if a token has more than kMaxTokenBytes, or if two tokens are equal after normalisation.
  AddedVocabulary(const std::vector<AddedToken>& tokens, const PieceModel& model, const Normalizer& normalizer,
                  const std::string& name);

  struct Part {
    std::size_t begin;  // bytes of the text
    std::size_t end;
    std::optional<std::int32_t> id;  // id of an added token; absent for the text between tokens
  };
  // Whether to match tokens in the text before normalisation, or in the normalised text.
  enum class Looking { for_raw_tokens, for_normalized_tokens };
  enum class SpecialTokens { found, ignored };
  // Calls `take` with the parts of a text, in order.
  using PartSink = std::function<void(const Part& part)>;
  void find(std::string_view text, Looking looking, SpecialTokens special_tokens, const PartSink& take) const;

  std::optional<std::int32_t> id(std::string_view token) const { return value_of(ids_, token); }
  // Returns the id of an added token or else of a subword of `model`; nullopt if there is neither.
  std::optional<std::int32_t> id(std::string_view token, const PieceModel& model) const {
    const auto added = id(token);
    return added ? added : model.id(token);
  }
  struct Entry {
    AddedToken token;
    std::string decoded;  // the input of a PieceDecoder: the content, normalised if token.is_normalized()
  };
  // Returns null if no token has this id.
  const Entry* entry(std::int32_t id) const;
  bool is_special(std::string_view token) const { return special_.contains(token); }

 private:
  StringMap<std::int32_t> ids_;
  std::unordered_map<std::int32_t, Entry> tokens_;
  std::set<std::string, std::less<>> special_;
  ByteTrie raw_;
  ByteTrie normalized_;
};

}  // namespace encdec
