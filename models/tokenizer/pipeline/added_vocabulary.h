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

// The tokens that are cut out of a text before the model sees it, as in Hugging Face's tokenizers 0.23. The search runs
// from left to right and takes the longest token at each place.
class AddedVocabulary {
 public:
  // A token that is in the model's vocabulary keeps its id. The others get new ids in order, starting at the size of
  // the vocabulary. If `tokens` has a token twice, the last entry counts. Empty tokens are skipped. `normalizer` may be
  // empty. Throws TokenizerError, beginning with `name`, if a token has more than kMaxTokenBytes, or if two tokens are
  // equal once normalised.
  AddedVocabulary(const std::vector<AddedToken>& tokens, const PieceModel& model, const Normalizer& normalizer,
                  const std::string& name);

  // A part of a text: an added token, or the text between two of them.
  struct Part {
    std::size_t begin;  // bytes of the text
    std::size_t end;
    std::optional<std::int32_t> id;  // absent for text between tokens
  };
  // The tokens to search for: those that are matched before normalisation, or those that are matched after it.
  enum class Looking { for_raw_tokens, for_normalized_tokens };
  enum class SpecialTokens { found, ignored };
  // Calls `take` with the parts of a text, in order.
  using PartSink = std::function<void(const Part& part)>;
  void find(std::string_view text, Looking looking, SpecialTokens special_tokens, const PartSink& take) const;

  std::optional<std::int32_t> id(std::string_view token) const { return value_of(ids_, token); }
  // Returns the id of a token or else of a piece of `model`; nullopt if there is neither.
  std::optional<std::int32_t> id(std::string_view token, const PieceModel& model) const {
    const auto added = id(token);
    return added ? added : model.id(token);
  }
  struct Entry {
    AddedToken token;
    // The text that a PieceDecoder gets for the token: its content, normalised if it is looked for after normalisation.
    std::string decoded;
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
