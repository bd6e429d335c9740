#include "encdec/models/tokenizer/families/slow_tokenizer.h"

#include <fmt/format.h>

#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

namespace encdec {

SlowTokenizer::SlowTokenizer(TokenizerSettings settings, Vocabulary vocabulary, std::string name)
    : name_(std::move(name)),
      settings_(std::move(settings)),
      vocabulary_(std::move(vocabulary)),
      added_tokens_(settings_.added_tokens, settings_.special_tokens, vocabulary_) {}

std::vector<std::int32_t> SlowTokenizer::encode_side(std::string_view text, const EncodeOptions& options,
                                                     TextSide side) const {
  check_text(text);
  Affixes around = affixes(options, side);
  std::vector<std::int32_t> ids;
  const auto add = [&](std::string_view piece) {
    poll_cancelled();
    const auto id = find_id(piece, side);
    ids.push_back(id ? *id : named_id("unk_token"));
  };
  // Encode the added tokens and the texts between them.
  const auto add_text = [&](std::string_view part) { cut(part, side, add); };
  if (settings_.split_special_tokens) {
    add_text(text);
  } else {
    for (const AddedTokens::Part& part : added_tokens_.split(text)) {
      part.is_token ? add(part.text) : add_text(part.text);
    }
  }
  // Truncate the text so that the affixes fit, then add the affixes.
  keep(ids, around.shortened(ids.size(), options.max_length),
       options.truncation_side.value_or(settings_.truncation_side.value_or(TruncationSide::right)));
  if (ends_already(ids)) around.after.clear();
  around.put_around(ids);
  return ids;
}

std::string SlowTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::vector<std::string> kept;
  for (const std::int32_t id : ids) {
    const std::string_view text = piece(id, TextSide::target);
    if (!added_tokens_.is_special(id)) kept.emplace_back(text);
  }
  std::string text = join(kept);
  return settings_.clean_up_spaces ? clean_up_spaces(std::move(text)) : text;
}

std::optional<std::int32_t> SlowTokenizer::token_id(std::string_view token) const {
  return SlowTokenizer::find_id(token, TextSide::target);
}

std::optional<std::int32_t> SlowTokenizer::find_id(std::string_view piece, TextSide side) const {
  const auto added = added_tokens_.id(piece);
  return added ? added : vocabulary(side).id(piece);
}

std::optional<std::string_view> SlowTokenizer::find_piece(std::int32_t id, TextSide side) const {
  if (const std::string* added = added_tokens_.token(id)) return *added;
  const auto known = vocabulary(side).piece(id);
  return known ? known : missing_piece(id, side);
}

std::string_view SlowTokenizer::piece(std::int32_t id, TextSide side) const {
  if (const auto found = find_piece(id, side)) return *found;
  throw InputError(fmt::format("token id {} is not in the vocabulary of {} pieces", id, vocabulary_.size()));
}

std::string SlowTokenizer::join_around_tokens(const std::vector<std::string>& pieces, const SentencePieceModel& model,
                                              std::string_view behind) const {
  std::string text;
  std::vector<std::string> part;  // the subwords since the last special token
  for (const std::string& piece : pieces) {
    if (!added_tokens_.is_special(piece)) {
      part.push_back(piece);
      continue;
    }
    text.append(model.decode(part)).append(piece).append(behind);
    part.clear();
  }
  return text += model.decode(part);
}

std::int32_t SlowTokenizer::named_id(const std::string& key) const {
  const auto token = settings_.named_tokens.find(key);
  if (token == settings_.named_tokens.end()) refuse<TokenizerError>(name_, "there is no {}", key);
  if (const auto id = find_id(token->second, TextSide::source)) return *id;
  refuse<TokenizerError>(name_, "the vocabulary has no {} '{}'", key, printable(token->second));
}

void SlowTokenizer::require_unknown() const {
  named_id("unk_token");
  const std::string& token = settings_.named_tokens.at("unk_token");
  if (!vocabulary_.id(token)) {
    refuse<TokenizerError>(name_, "the vocabulary has no unk_token '{}'", printable(token));
  }
}

std::string SlowTokenizer::language_of(const EncodeOptions& options, TextSide side, std::string_view source) const {
  const bool is_source = side == TextSide::source;
  const std::string& asked = is_source ? options.source_language : options.target_language;
  if (!asked.empty()) return asked;
  return is_source ? settings_.source_language.value_or(std::string(source)) : settings_.target_language.value_or("");
}

}  // namespace encdec
