#include "encdec/models/tokenizer/families/marian_tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

namespace encdec {
namespace {

// Moves a language code, from ">>" to the first "<<" after the start, out of the text.
std::string_view take_language_code(std::string_view& text) {
  const std::size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
  if (end == std::string_view::npos) return {};
  const std::string_view code = text.substr(0, end + 2);
  text.remove_prefix(code.size());
  return code;
}

}  // namespace

std::map<std::string, std::string> MarianTokenizer::default_tokens() {
  return {{"unk_token", "<unk>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"}};
}

std::unique_ptr<Tokenizer> MarianTokenizer::load(const std::filesystem::path& folder) {
  TokenizerSettings settings = TokenizerSettings::merge(TokenizerFiles::read(folder), default_tokens());
  std::optional<Vocabulary> target_vocabulary;
  if (settings.separate_vocabularies) target_vocabulary = Vocabulary::read(folder / "target_vocab.json");
  return std::make_unique<MarianTokenizer>(Parts{.source_model = SentencePieceModel::read(folder / "source.spm"),
                                                 .target_model = SentencePieceModel::read(folder / "target.spm"),
                                                 .vocabulary = Vocabulary::read(folder / "vocab.json"),
                                                 .target_vocabulary = std::move(target_vocabulary),
                                                 .settings = std::move(settings)},
                                           folder.string());
}

MarianTokenizer::MarianTokenizer(Parts parts, std::string name)
    : SlowTokenizer(std::move(parts.settings), std::move(parts.vocabulary), std::move(name)),
      source_model_(std::move(parts.source_model)),
      target_model_(std::move(parts.target_model)),
      target_vocabulary_(std::move(parts.target_vocabulary)) {
  require_unknown();
  named_id("eos_token");
  const auto end = added_tokens().id(settings().named_tokens.at("eos_token"));
  if (!end) throw TokenizerError(fmt::format("{}: the eos_token is empty", this->name()));
  end_id_ = *end;
}

std::vector<std::int32_t> MarianTokenizer::encode_side(std::string_view text, const EncodeOptions& options,
                                                       TextSide side) const {
  EncodeOptions remaining = options;
  std::string_view rest = text;
  if (!take_language_code(rest).empty()) remaining.target_language.clear();
  return SlowTokenizer::encode_side(text, remaining, side);
}

std::vector<std::string> MarianTokenizer::cut(std::string_view text, TextSide side) const {
  const std::string_view code = take_language_code(text);
  std::vector<std::string> pieces = (side == TextSide::source ? source_model_ : target_model_).encode(text);
  if (!code.empty()) pieces.emplace(pieces.begin(), code);
  return pieces;
}

std::optional<std::int32_t> MarianTokenizer::find_id(std::string_view piece, TextSide side) const {
  if (const auto known = SlowTokenizer::find_id(piece, side)) return known;
  const std::string& unknown_token = settings().named_tokens.at("unk_token");
  if (const auto unknown = vocabulary(side).id(unknown_token)) return unknown;
  throw TokenizerError(fmt::format("{}: the target vocabulary has neither '{}' nor '{}'", name(), printable(piece),
                                   printable(unknown_token)));
}

Affixes MarianTokenizer::affixes(const EncodeOptions& options, TextSide side) const {
  Affixes around{.after = {end_id_}};
  if (side == TextSide::target || options.target_language.empty()) return around;
  const auto code = language_token(options.target_language);
  if (!code) {
    throw InputError(fmt::format("{}: target language '{}' is not known, expected one of {}", name(),
                                 printable(options.target_language), fmt::join(languages(), ", ")));
  }
  around.before = {*code};
  return around;
}

// The target vocabulary may have a special token under another id than the source vocabulary.
std::string MarianTokenizer::join(const std::vector<std::string>& pieces) const {
  const std::string text = replace_all(join_around_tokens(pieces, decoding_model(TextSide::target), " "), "▁", " ");
  return std::string(strip_right(strip_left(text)));
}

std::vector<std::string> MarianTokenizer::languages() const {
  std::map<std::int32_t, std::string> found;
  for (const auto& [piece, id] : vocabulary(TextSide::source).ids()) {
    std::string_view rest = piece;
    const std::string_view code = take_language_code(rest);
    if (!code.empty() && rest.empty()) found[id] = code.substr(2, code.size() - 4);
  }
  std::vector<std::string> languages;
  for (auto& [id, language] : found) languages.push_back(std::move(language));
  return languages;
}

std::optional<std::int32_t> MarianTokenizer::language_token(std::string_view language) const {
  return vocabulary(TextSide::source).id(fmt::format(">>{}<<", language));
}

const std::string& MarianTokenizer::piece(std::int32_t id, TextSide side) const {
  if (const std::string* found = find_piece(id, side)) return *found;
  throw InputError(fmt::format("token id {}: the {} vocabulary has {} pieces and not this one", id,
                               side == TextSide::source ? "source" : "target", vocabulary(side).size()));
}

const std::string* MarianTokenizer::missing_piece(std::int32_t id, TextSide side) const {
  return decoding_model(side).piece(id);
}

const Vocabulary& MarianTokenizer::vocabulary(TextSide side) const {
  return side == TextSide::target && target_vocabulary_ ? *target_vocabulary_ : SlowTokenizer::vocabulary(side);
}

// One vocabulary for both sides is read with the source's model: that is what transformers does.
const SentencePieceModel& MarianTokenizer::decoding_model(TextSide side) const {
  return side == TextSide::target && target_vocabulary_ ? target_model_ : source_model_;
}

}  // namespace encdec
