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

  std::vector<std::int32_t> encode_segment(std::string_view text) const override { return encode_plain(text); }
  Encoding join_pair(std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                     const EncodeOptions& options) const override {
    const std::optional<PairAffixes> pair = affixes_of(options, TextSide::source).pair;
    if (!pair) return {Tokenizer::encode_segment({})};  // always throws
    const PairAffixes& affixes = *pair;
    // Truncate the texts so that the special tokens fit.
    if (options.max_length > 0) {
      const std::size_t special = affixes.before.size() + affixes.between.size() + affixes.after.size();
      const std::size_t room = options.max_length - std::min(special, options.max_length);
      const auto lengths = pair_lengths(first.size(), second.size(), room, options.truncation);
      const bool is_left = side_of(options) == TruncationSide::left;
      first = is_left ? first.last(lengths.first) : first.first(lengths.first);
      second = is_left ? second.last(lengths.second) : second.first(lengths.second);
    }
    // Join the texts and the special tokens.
    Encoding encoding;
    const auto add = [&ids = encoding.ids](std::span<const std::int32_t> part) {
      ids.insert(ids.end(), part.begin(), part.end());
    };
    add(affixes.before);
    add(first);
    if (parts_.has_segments && affixes.first_segment != kNoSecondSegment) {
      encoding.second_segment = encoding.ids.size() + affixes.first_segment;
    }
    add(affixes.between);
    add(second);
    add(affixes.after);
    return encoding;
  }

  bool has_ranges() const override { return true; }
  Encoding encode_with_ranges(std::string_view text, const EncodeOptions& options) const override {
    const Affixes affixes = affixes_of(options, TextSide::source);
    Encoding encoding;
    std::vector<ByteSpan> spans;
    encoding.ids = encode_plain(text, &spans);
    const std::size_t left = affixes.shortened(encoding.ids.size(), options.max_length);
    keep(encoding.ids, left, side_of(options));
    keep(spans, left, side_of(options));
    // Convert the spans to characters, and exclude spaces according to affixes.trim.
    encoding.ranges = to_characters(text, spans);
    for (std::size_t i = 0; affixes.trim != Affixes::Trim::none && i < spans.size(); ++i) {
      const std::int32_t id = encoding.ids[i];
      const auto [begin, end] = spans[i];
      const std::string_view token =
          added_.entry(id) != nullptr ? text.substr(begin, end - begin) : piece(id, TextSide::source);
      trim(token, i == 0, affixes.trim, encoding.ranges[i]);
    }
    encoding.ranges.insert(encoding.ranges.begin(), affixes.before.size(), TextRange());
    encoding.ranges.insert(encoding.ranges.end(), affixes.after.size(), TextRange());
    encoding.special_before = affixes.before.size();
    encoding.special_after = affixes.after.size();
    affixes.put_around(encoding.ids);
    return encoding;
  }

  std::string join(std::vector<std::string> pieces) const override {
    if (parts_.decoder) parts_.decoder(pieces);
    return fmt::format("{}", fmt::join(pieces, parts_.decoder ? "" : " "));
  }

  bool marks_continuing_pieces() const override { return parts_.marks_continuing_pieces; }
  std::optional<std::int32_t> unknown_token() const override { return token_id(parts_.unknown_token); }

  std::string decode(std::span<const std::int32_t> ids) const override {
    std::vector<std::string> texts;
    std::size_t bytes = 0;
    for (const std::int32_t id : ids) {
      const AddedVocabulary::Entry* added = added_.entry(id);
      const std::optional<std::string_view> text = added != nullptr ? added->decoded : parts_.model->piece(id);
      if (!text) fail_id(id);
      if (added_.is_special(*text)) continue;
      check_rewritten_size(bytes += text->size());
      texts.emplace_back(*text);
    }
    std::string result = join(std::move(texts));
    return parts_.clean_up_spaces ? clean_up_spaces(std::move(result)) : result;
  }

  std::string_view piece(std::int32_t id, TextSide /*side*/) const override {
    if (const AddedVocabulary::Entry* added = added_.entry(id)) return added->token.content;
    if (const auto piece = parts_.model->piece(id)) return *piece;
    fail_id(id);
  }

  std::optional<std::int32_t> token_id(std::string_view token) const override {
    return added_.id(token, *parts_.model);
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
    const Affixes affixes = affixes_of(options, side);
    std::vector<std::int32_t> ids = encode_plain(text);
    keep(ids, affixes.shortened(ids.size(), options.max_length), side_of(options));
    affixes.put_around(ids);
    return ids;
  }

  Affixes affixes_of(const EncodeOptions& options, TextSide side) const {
    if (!parts_.language_affixes) refuse_languages(options, name_);
    return parts_.language_affixes ? parts_.language_affixes(options, side) : parts_.affixes;
  }

  TruncationSide side_of(const EncodeOptions& options) const {
    return options.truncation_side.value_or(parts_.truncation_side);
  }

  // Converts spans from bytes to characters of the text.
  static std::vector<TextRange> to_characters(std::string_view text, std::span<const ByteSpan> spans) {
    std::vector<std::size_t> characters(text.size() + 1);  // number of characters before each byte
    for (std::size_t i = 0; i < text.size(); ++i)
      characters[i + 1] = characters[i] + (is_continuation(text[i]) ? 0 : 1);
    std::vector<TextRange> ranges;
    for (const auto& [begin, end] : spans) ranges.push_back({characters[begin], characters[end]});
    return ranges;
  }

  // Excludes the spaces at the ends of a token from the token's range, like byte-level tokenizers.
  static void trim(std::string_view token, bool is_first, Affixes::Trim trim, TextRange& range) {
    const auto is_space = [](char32_t c) { return is_white_space(c) || character_byte(c) == ' '; };
    const auto count = [](std::string_view bytes) {
      return static_cast<std::size_t>(std::ranges::count_if(bytes, [](char byte) { return !is_continuation(byte); }));
    };
    std::size_t leading = count(token.substr(0, leading_bytes(token, is_space)));
    const std::size_t trailing = count(token.substr(token.size() - trailing_bytes(token, is_space)));
    // The tokenizer may have added a single leading space. Several leading spaces belong to the text.
    if (leading == 1 && trim == Affixes::Trim::unless_added && (is_first || range.begin == 0)) leading = 0;
    range.begin = std::min(range.begin + leading, range.end);
    if (range.end >= trailing) range.end = std::max(range.end - trailing, range.begin);
  }

  // Returns the ids of a text without affixes. Unless null, `spans` receives the range of each id in bytes.
  std::vector<std::int32_t> encode_plain(std::string_view text, std::vector<ByteSpan>* spans = nullptr) const {
    using Looking = AddedVocabulary::Looking;
    check_text(text);
    const auto kept = spans != nullptr ? PipelineText::Spans::kept : PipelineText::Spans::none;
    const auto special_tokens =
        parts_.split_special_tokens ? AddedVocabulary::SpecialTokens::ignored : AddedVocabulary::SpecialTokens::found;
    std::vector<std::int32_t> ids;
    std::size_t normalized_bytes = 0;
    // Split off tokens that are matched before normalisation, and normalise the texts between them.
    added_.find(text, Looking::for_raw_tokens, special_tokens, [&](const AddedVocabulary::Part& raw) {
      if (raw.begin == raw.end) return;
      if (raw.id) {
        ids.push_back(*raw.id);
        if (spans != nullptr)
          spans->push_back({static_cast<std::uint32_t>(raw.begin), static_cast<std::uint32_t>(raw.end)});
        return;
      }
      PipelineText part = PipelineText::part(text, raw.begin, raw.end, kept);
      if (parts_.normalizer) parts_.normalizer(part);
      check_rewritten_size(normalized_bytes += part.text.size());
      // Split off the tokens of the normalised text, and split the texts between them into words.
      const std::string_view normalized = part.text;
      added_.find(normalized, Looking::for_normalized_tokens, special_tokens, [&](const AddedVocabulary::Part& inner) {
        if (inner.begin == inner.end) return;
        if (inner.id) {
          ids.push_back(*inner.id);
          if (spans != nullptr) spans->push_back({part.spans[inner.begin].begin, part.spans[inner.end - 1].end});
          return;
        }
        // Moving `part` is safe: slice() moves the text only if this inner part is all of it.
        PipelineText rest = std::move(part).slice(inner.begin, inner.end);
        if (!parts_.pre_tokenizer) return encode_word(rest, ids, spans);
        parts_.pre_tokenizer(std::move(rest), [&](PipelineText&& word) { encode_word(word, ids, spans); });
      });
    });
    return ids;
  }

  // Appends the ids of a word and, unless null, their spans in the caller's text.
  void encode_word(const PipelineText& word, std::vector<std::int32_t>& ids, std::vector<ByteSpan>* spans) const {
    if (spans == nullptr) return parts_.model->tokenize(word.text, ids, nullptr);
    std::vector<ByteSpan> parts;
    parts_.model->tokenize(word.text, ids, &parts);
    for (const auto& [begin, end] : parts) {
      const std::size_t last = std::min<std::size_t>(end, word.spans.size());
      spans->push_back(begin < last ? ByteSpan{word.spans[begin].begin, word.spans[last - 1].end} : ByteSpan());
    }
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
