#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "encdec/models/tokenizer/families/slow_tokenizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

namespace encdec {
namespace {

// Removes a language code, such as ">>fra<<", from the beginning of the text. Returns the code, or an empty view.
std::string_view take_language_code(std::string_view& text) {
  const std::size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
  if (end == std::string_view::npos) return {};
  const std::string_view code = text.substr(0, end + 2);
  text.remove_prefix(code.size());
  return code;
}

class MarianTokenizer final : public SlowTokenizer {
 public:
  MarianTokenizer(MarianParts parts, const std::string& name)
      : SlowTokenizer(std::move(parts.settings), std::move(parts.vocabulary), name),
        source_model_(std::move(parts.source_model)),
        target_model_(std::move(parts.target_model)),
        target_vocabulary_(std::move(parts.target_vocabulary)),
        takes_codes_(parts.allows_language_codes) {
    require_unknown();
    named_id("eos_token");
    const auto end = added_tokens().id(settings().named_tokens.at("eos_token"));
    if (!end) refuse<TokenizerError>(name, "the eos_token is empty");
    end_id_ = *end;
  }

  std::string kind() const override { return takes_codes_ ? "sentencepiece with vocab.json" : "sentencepiece"; }

  std::string_view piece(std::int32_t id, TextSide side) const override {
    if (const auto found = find_piece(id, side)) return *found;
    throw InputError(fmt::format("token id {} is not in the {} vocabulary of {} pieces", id,
                                 side == TextSide::source ? "source" : "target", vocabulary(side).size()));
  }

  // Returns the languages whose code is a subword of the source vocabulary.
  std::vector<std::string> languages() const override {
    std::map<std::int32_t, std::string> found;
    for (const Vocabulary::Entry& entry : vocabulary(TextSide::source).entries()) {
      std::string_view rest = entry.piece();
      const std::string_view code = take_language_code(rest);
      if (!code.empty() && rest.empty()) found[entry.id] = code.substr(2, code.size() - 4);
    }
    std::vector<std::string> languages;
    for (auto& [id, language] : found) languages.push_back(std::move(language));
    return languages;
  }

  std::optional<std::int32_t> language_token(std::string_view language) const override {
    return vocabulary(TextSide::source).id(fmt::format(">>{}<<", language));
  }

 protected:
  std::vector<std::int32_t> encode_side(std::string_view text, const EncodeOptions& options,
                                        TextSide side) const override {
    // A code in the text overrides the target language of the options.
    EncodeOptions remaining = options;
    std::string_view rest = text;
    if (takes_codes_ && !take_language_code(rest).empty()) remaining.target_language.clear();
    return SlowTokenizer::encode_side(text, remaining, side);
  }

  void cut(std::string_view text, TextSide side, const PieceSink& take) const override {
    const std::string_view code = takes_codes_ ? take_language_code(text) : std::string_view();
    if (!code.empty()) take(code);
    (side == TextSide::source ? source_model_ : target_model_).encode(text, take);
  }

  // Returns the id of the unknown token for an unknown subword.
  std::optional<std::int32_t> find_id(std::string_view piece, TextSide side) const override {
    if (const auto known = SlowTokenizer::find_id(piece, side)) return known;
    const std::string& unknown_token = settings().named_tokens.at("unk_token");
    if (const auto unknown = vocabulary(side).id(unknown_token)) return unknown;
    refuse<TokenizerError>(name(), "the target vocabulary has neither '{}' nor '{}'", printable(piece),
                           printable(unknown_token));
  }

  // Recognises special tokens by their text, because their ids can differ between the vocabularies.
  std::string join(const std::vector<std::string>& pieces) const override {
    const std::string text = join_around_tokens(pieces, decoding_model(TextSide::target), " ");
    return std::string(strip(replace_all(text, "▁", " ")));
  }

  Affixes affixes(const EncodeOptions& options, TextSide side) const override {
    Affixes around{.after = {end_id_}};
    if (side == TextSide::target || options.target_language.empty()) return around;
    const auto code = language_token(options.target_language);
    if (!code) {
      refuse<InputError>(name(), "target language '{}' is not known, expected one of {}",
                         printable(options.target_language), fmt::join(languages(), ", "));
    }
    around.before = {*code};
    return around;
  }

  std::optional<std::string_view> missing_piece(std::int32_t id, TextSide side) const override {
    const std::string* piece = decoding_model(side).piece(id);
    return piece != nullptr ? std::optional<std::string_view>(*piece) : std::nullopt;
  }

  const Vocabulary& vocabulary(TextSide side) const override {
    return side == TextSide::target && target_vocabulary_ ? *target_vocabulary_ : SlowTokenizer::vocabulary(side);
  }

 private:
  // Returns the model for decoding. Like transformers, uses the source's model for a shared vocabulary.
  const SentencePieceModel& decoding_model(TextSide side) const {
    return side == TextSide::target && target_vocabulary_ ? target_model_ : source_model_;
  }

  SentencePieceModel source_model_;
  SentencePieceModel target_model_;
  std::optional<Vocabulary> target_vocabulary_;
  bool takes_codes_;
  std::int32_t end_id_;
};

}  // namespace

NamedTokens marian_tokens() {
  return {{"unk_token", "<unk>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"}};
}

std::unique_ptr<Tokenizer> marian_tokenizer(MarianParts parts, const std::string& name) {
  return std::make_unique<MarianTokenizer>(std::move(parts), name);
}

}  // namespace encdec
