#include "encdec/models/tokenizer/marian_tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "encdec/engine/error.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"
#include "encdec/models/tokenizer/utf8.h"

namespace encdec {
namespace {

const std::string& named_token(const TokenizerSettings& settings, const char* key, const std::string& name) {
  const auto found = settings.named_tokens.find(key);
  if (found == settings.named_tokens.end()) throw TokenizerError(fmt::format("{}: there is no {}", name, key));
  return found->second;
}

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
  constexpr std::array kFiles = {"source.spm", "target.spm", "vocab.json"};
  std::size_t present = 0;
  const char* missing = nullptr;
  for (const char* file : kFiles) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / file, ignored)) {
      ++present;
    } else {
      missing = file;
    }
  }
  if (present == 0) return nullptr;
  if (missing != nullptr) {
    throw TokenizerError(fmt::format("{}: no {}, expected {}", folder.string(), missing, fmt::join(kFiles, ", ")));
  }
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
    : name_(std::move(name)),
      parts_(std::move(parts)),
      added_tokens_(std::move(parts_.settings.added_tokens), parts_.settings.special_tokens, parts_.vocabulary),
      unknown_token_(named_token(parts_.settings, "unk_token", name_)) {
  if (!parts_.vocabulary.id(unknown_token_)) {
    throw TokenizerError(fmt::format("{}: the vocabulary has no unk_token '{}'", name_, printable(unknown_token_)));
  }
  const auto end = added_tokens_.id(named_token(parts_.settings, "eos_token", name_));
  if (!end) throw TokenizerError(fmt::format("{}: the eos_token is empty", name_));
  end_id_ = *end;
}

std::vector<std::int32_t> MarianTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::string_view rest = text;
  if (options.target_language.empty() || !take_language_code(rest).empty()) {
    return encode_side(text, TextSide::source, options.max_length);
  }
  const auto code = language_token(options.target_language);
  if (!code) {
    throw InputError(fmt::format("{}: target language '{}' is not known, expected one of {}", name_,
                                 printable(options.target_language), fmt::join(languages(), ", ")));
  }
  auto ids = encode_side(text, TextSide::source,
                         options.max_length == 0 ? 0 : std::max<std::size_t>(options.max_length, 2) - 1);
  ids.insert(ids.begin(), *code);
  return ids;
}

std::vector<std::int32_t> MarianTokenizer::encode_target(std::string_view text, const EncodeOptions& options) const {
  return encode_side(text, TextSide::target, options.max_length);
}

std::vector<std::int32_t> MarianTokenizer::encode_side(std::string_view text, TextSide side,
                                                       std::size_t max_length) const {
  check_text(text);
  std::vector<std::int32_t> ids;
  const auto add = [&](std::string_view piece) {
    if (const auto added = added_tokens_.id(piece)) return ids.push_back(*added);
    if (const auto known = vocabulary(side).id(piece)) return ids.push_back(*known);
    const auto unknown = vocabulary(side).id(unknown_token_);
    if (!unknown) {
      throw TokenizerError(fmt::format("{}: the target vocabulary has neither '{}' nor '{}'", name_, printable(piece),
                                       printable(unknown_token_)));
    }
    ids.push_back(*unknown);
  };
  const SentencePieceModel& model = side == TextSide::source ? parts_.source_model : parts_.target_model;
  const auto add_text = [&](std::string_view part) {
    if (const std::string_view code = take_language_code(part); !code.empty()) add(code);
    for (const std::string& piece : model.encode(part)) add(piece);
  };
  if (parts_.settings.split_special_tokens) {
    add_text(text);
  } else {
    for (const AddedTokens::Part& part : added_tokens_.split(text)) {
      part.is_token ? add(part.text) : add_text(part.text);
    }
  }
  if (max_length > 0 && ids.size() >= max_length) ids.resize(max_length - 1);
  ids.push_back(end_id_);
  return ids;
}

std::string MarianTokenizer::decode(std::span<const std::int32_t> ids) const {
  const SentencePieceModel& model = decoding_model(TextSide::target);
  std::string text;
  std::vector<std::string> pieces;
  for (const std::int32_t id : ids) {
    const std::string& token = piece(id, TextSide::target);
    if (added_tokens_.is_special(id)) continue;
    if (added_tokens_.is_special(token)) {
      // The target vocabulary may have a special token under another id than the source vocabulary.
      text += model.decode(pieces) + token + ' ';
      pieces.clear();
    } else {
      pieces.push_back(token);
    }
  }
  text += model.decode(pieces);
  text = replace_all(text, "▁", " ");
  std::string stripped(strip_right(strip_left(text)));
  return parts_.settings.clean_up_spaces ? clean_up_spaces(std::move(stripped)) : stripped;
}

std::vector<std::string> MarianTokenizer::pieces(std::span<const std::int32_t> ids, TextSide side) const {
  std::vector<std::string> result;
  result.reserve(ids.size());
  for (const std::int32_t id : ids) result.push_back(piece(id, side));
  return result;
}

std::optional<std::int32_t> MarianTokenizer::token_id(std::string_view token) const {
  if (const auto added = added_tokens_.id(token)) return added;
  return vocabulary(TextSide::target).id(token);
}

std::vector<std::string> MarianTokenizer::languages() const {
  std::map<std::int32_t, std::string> found;
  for (const auto& [piece, id] : parts_.vocabulary.ids()) {
    std::string_view rest = piece;
    const std::string_view code = take_language_code(rest);
    if (!code.empty() && rest.empty()) found[id] = code.substr(2, code.size() - 4);
  }
  std::vector<std::string> languages;
  for (auto& [id, language] : found) languages.push_back(std::move(language));
  return languages;
}

std::optional<std::int32_t> MarianTokenizer::language_token(std::string_view language) const {
  return parts_.vocabulary.id(fmt::format(">>{}<<", language));
}

const std::string& MarianTokenizer::piece(std::int32_t id, TextSide side) const {
  if (const std::string* added = added_tokens_.token(id)) return *added;
  if (const std::string* known = vocabulary(side).piece(id)) return *known;
  if (const std::string* numbered = decoding_model(side).piece(id)) return *numbered;
  throw InputError(fmt::format("token id {}: the {} vocabulary has {} pieces and not this one", id,
                               side == TextSide::source ? "source" : "target", vocabulary(side).size()));
}

const Vocabulary& MarianTokenizer::vocabulary(TextSide side) const {
  return side == TextSide::target && parts_.target_vocabulary ? *parts_.target_vocabulary : parts_.vocabulary;
}

// One vocabulary for both sides is read with the source's model: that is what transformers does.
const SentencePieceModel& MarianTokenizer::decoding_model(TextSide side) const {
  return side == TextSide::target && parts_.target_vocabulary ? parts_.target_model : parts_.source_model;
}

}  // namespace encdec
