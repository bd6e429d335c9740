#include "encdec/models/tokenizer/pipeline/added_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

// Returns whether a word ends at the end of `before` or begins at the beginning of `after`.
bool touches_word(std::string_view before, std::string_view after) {
  return (!before.empty() && is_word_character(first_character(before.substr(last_character(before))).value)) ||
         (!after.empty() && is_word_character(first_character(after).value));
}

}  // namespace

AddedVocabulary::AddedVocabulary(const std::vector<AddedToken>& tokens, const PieceModel& model,
                                 const Normalizer& normalizer, const std::string& name) {
  // Assign the ids. If two entries have the same id, the last one replaces the first.
  std::size_t next_id = model.size();
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    auto token_id = id(token.content, model);
    if (!token_id) {
      if (next_id >= static_cast<std::size_t>(kMaxTokenIds)) {
        refuse<TokenizerError>(name, "more than {} tokens", kMaxTokenIds);
      }
      token_id = static_cast<std::int32_t>(next_id++);
    }
    PipelineText decoded = PipelineText::whole(token.content);
    if (token.is_normalized() && normalizer) normalizer(decoded);
    if (const auto bytes = std::max(token.content.size(), decoded.text.size()); bytes > kMaxTokenBytes) {
      refuse<TokenizerError>(name, "an added token of {} bytes, expected at most {}", bytes, kMaxTokenBytes);
    }
    ids_[token.content] = *token_id;
    if (token.special) special_.insert(token.content);
    tokens_[*token_id] = {token, std::move(decoded.text)};
  }
  // Add each token to the trie for raw texts or to the trie for normalised texts.
  for (const auto& [token_id, entry] : tokens_) {
    ByteTrie& trie = entry.token.is_normalized() ? normalized_ : raw_;
    if (entry.decoded.empty()) continue;  // a token whose normalised text is empty never matches
    if (const auto other = trie.find(entry.decoded)) {
      refuse<TokenizerError>(name, "the added tokens '{}' and '{}' are the same text once normalised",
                             printable(entry.token.content), printable(tokens_.at(*other).token.content));
    }
    trie.insert(entry.decoded, token_id);
  }
}

void AddedVocabulary::find(std::string_view text, Looking looking, SpecialTokens special_tokens,
                           const PartSink& take) const {
  const ByteTrie& trie = looking == Looking::for_raw_tokens ? raw_ : normalized_;
  std::size_t done = 0;             // end of the last part
  std::size_t whitespace_done = 0;  // end of the whitespace after the last strip_right token; scanned only once
  for (std::size_t position = 0; position < text.size();) {
    poll_cancelled();
    const ByteTrie::Match found = trie.longest(text.substr(position));
    if (found.value < 0) {
      ++position;
      continue;
    }
    std::size_t begin = position;
    std::size_t end = position += found.bytes;
    const AddedToken& token = tokens_.at(found.value).token;
    if (special_tokens == SpecialTokens::ignored && is_special(token.content)) continue;
    if (token.single_word && touches_word(text.substr(0, begin), text.substr(end))) continue;
    // Extend the token over adjacent whitespace if the options request this. Then emit the preceding text and the
    // token.
    if (token.strip_left) {
      const std::size_t limit = std::min(done, begin);
      begin = std::max(begin - trailing_bytes(text.substr(limit, begin - limit), is_white_space), done);
    }
    if (token.strip_right) {
      end = end < whitespace_done ? whitespace_done : end + leading_bytes(text.substr(end), is_white_space);
      whitespace_done = end;
    }
    if (done < begin) take({done, begin, std::nullopt});
    take({begin, end, found.value});
    done = end;
  }
  if (done != text.size()) take({done, text.size(), std::nullopt});
}

const AddedVocabulary::Entry* AddedVocabulary::entry(std::int32_t id) const {
  const auto found = tokens_.find(id);
  return found != tokens_.end() ? &found->second : nullptr;
}

}  // namespace encdec
