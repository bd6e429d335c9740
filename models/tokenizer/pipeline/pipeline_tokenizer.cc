#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/added_vocabulary.h"

namespace encdec {
namespace {

class PipelineTokenizer final : public Tokenizer {
 public:
  PipelineTokenizer(PipelineParts parts, const std::string& name)
      : parts_(std::move(parts)), name_(name), added_(parts_.added_tokens, *parts_.model, parts_.normalizer, name) {}

  std::string kind() const override { return parts_.kind; }

  Encoding encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options) const override {
    if (!parts_.affixes.pair) return Tokenizer::encode_pair(first, second, options);
    const PairAffixes& affixes = *parts_.affixes.pair;
    std::vector<std::int32_t> first_ids = encode_plain(first), second_ids = encode_plain(second);
    if (options.max_length > 0) {
      const std::size_t special = affixes.before.size() + affixes.between.size() + affixes.after.size();
      const std::size_t room = options.max_length - std::min(special, options.max_length);
      const auto lengths = pair_lengths(first_ids.size(), second_ids.size(), room, options.truncation);
      first_ids.resize(lengths.first);
      second_ids.resize(lengths.second);
    }
    return affixes.join(first_ids, second_ids);
  }

  std::string decode(std::span<const std::int32_t> ids) const override {
    std::vector<std::string> texts;
    std::size_t bytes = 0;
    for (const std::int32_t id : ids) {
      const std::string* added = added_.decoded(id);
      const std::optional<std::string_view> text = added != nullptr ? *added : parts_.model->piece(id);
      if (!text) fail_id(id);
      if (added_.is_special(*text)) continue;
      check_rewritten_size(bytes += text->size());
      texts.emplace_back(*text);
    }
    if (parts_.decoder) parts_.decoder(texts);
    std::string result = fmt::format("{}", fmt::join(texts, parts_.decoder ? "" : " "));
    return parts_.clean_up_spaces ? clean_up_spaces(std::move(result)) : result;
  }

  std::string_view piece(std::int32_t id, TextSide /*side*/) const override {
    if (const AddedToken* token = added_.token(id)) return token->content;
    if (const auto piece = parts_.model->piece(id)) return *piece;
    fail_id(id);
  }

  std::optional<std::int32_t> token_id(std::string_view token) const override {
    const auto added = added_.id(token);
    return added ? added : parts_.model->id(token);
  }

  std::vector<std::string> languages() const override {
    std::vector<std::string> names;
    for (const auto& language : parts_.languages) names.push_back(language.name);
    return names;
  }

  std::optional<std::int32_t> language_token(std::string_view language) const override {
    for (const auto& [name, token] : parts_.languages) {
      if (name == language) return token;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                        TextSide side) const override {
    if (!parts_.language_affixes) refuse_languages(options, name_);
    const Affixes affixes = parts_.language_affixes ? parts_.language_affixes(options, side) : parts_.affixes;
    std::vector<std::int32_t> ids = encode_plain(text);
    affixes.cut(ids, options.max_length);
    affixes.put_around(ids);
    return ids;
  }

  std::vector<std::int32_t> encode_plain(std::string_view text) const {
    using Looking = AddedVocabulary::Looking;
    check_text(text);
    const auto special_tokens =
        parts_.split_special_tokens ? AddedVocabulary::SpecialTokens::ignored : AddedVocabulary::SpecialTokens::found;
    std::vector<std::int32_t> ids;
    std::size_t normalized_bytes = 0;
    added_.find(text, Looking::for_raw_tokens, special_tokens, [&](const AddedVocabulary::Part& raw) {
      if (raw.begin == raw.end) return;
      if (raw.id) return ids.push_back(*raw.id);
      PipelineText part = PipelineText::part(text, raw.begin, raw.end);
      if (parts_.normalizer) parts_.normalizer(part);
      check_rewritten_size(normalized_bytes += part.text.size());
      const std::string_view normalized = part.text;
      added_.find(normalized, Looking::for_normalized_tokens, special_tokens, [&](const AddedVocabulary::Part& inner) {
        if (inner.begin == inner.end) return;
        if (inner.id) return ids.push_back(*inner.id);
        // Moving `part` is safe: slice() moves only if this is the only inner part.
        encode_part(std::move(part).slice(inner.begin, inner.end), ids);
      });
    });
    return ids;
  }

  void encode_part(PipelineText&& text, std::vector<std::int32_t>& ids) const {
    if (!parts_.pre_tokenizer) return parts_.model->tokenize(text.text, ids);
    parts_.pre_tokenizer(std::move(text), [&](PipelineText&& word) { parts_.model->tokenize(word.text, ids); });
  }

  [[noreturn]] static void fail_id(std::int32_t id) {
    throw InputError(fmt::format("token id {} is not in the vocabulary", id));
  }

  PipelineParts parts_;
  std::string name_;
  AddedVocabulary added_;
};

}  // namespace

std::unique_ptr<Tokenizer> pipeline_tokenizer(PipelineParts parts, const std::string& name) {
  return std::make_unique<PipelineTokenizer>(std::move(parts), name);
}

}  // namespace encdec
