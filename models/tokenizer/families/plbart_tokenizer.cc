#include "encdec/models/tokenizer/families/plbart_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/language_codes.h"

namespace encdec {
namespace {

constexpr std::int32_t kFairseqOffset = 1;

bool is_base(const TokenizerFiles& files) {
  const auto codes = files.tokenizer_config ? files.tokenizer_config->string("language_codes") : std::nullopt;
  if (!codes || *codes == "base") return true;
  if (*codes == "multi") return false;
  throw TokenizerError(fmt::format("{}: language_codes is '{}', expected 'base' or 'multi'",
                                   files.tokenizer_config->file(), printable(*codes)));
}

std::vector<std::string> plbart_languages(const TokenizerFiles& files) {
  if (is_base(files)) return {"java", "python", "en_XX"};
  return {"java", "python", "en_XX", "javascript", "php", "ruby", "go"};
}

// fairseq's four tokens, the pieces, the languages; last the mask, which the multilingual models do not have.
Vocabulary plbart_vocabulary(const PLBartTokenizer::Files& files, const std::string& name) {
  const SentencePieceProto proto = SentencePieceProto::parse(files.model, name);
  Vocabulary vocabulary;
  std::int32_t id = 0;
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) vocabulary.add(token, id++, name);
  const auto add = [&](const std::string& piece, std::int32_t piece_id) {
    if (!vocabulary.id(piece) && vocabulary.piece(piece_id) == nullptr) vocabulary.add(piece, piece_id, name);
  };
  id = kFairseqOffset;
  for (const auto& piece : proto.pieces) add(piece.text, id++);
  for (const std::string& language : plbart_languages(files.settings))
    vocabulary.add(language_codes::fairseq_piece(language), id++, name);
  if (is_base(files.settings)) add("<mask>", id);
  return vocabulary;
}

TokenizerSettings plbart_settings(const TokenizerFiles& files) {
  auto settings = TokenizerSettings::merge(files, {{"bos_token", "<s>"},
                                                   {"eos_token", "</s>"},
                                                   {"sep_token", "</s>"},
                                                   {"cls_token", "<s>"},
                                                   {"unk_token", "<unk>"},
                                                   {"pad_token", "<pad>"},
                                                   {"mask_token", "<mask>"}});
  std::vector<std::string> reserved = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  for (const std::string& language : plbart_languages(files)) {
    reserved.push_back(language_codes::fairseq_piece(language));
    settings.special_tokens.push_back(reserved.back());
  }
  // transformers forgets what the files say of those.
  std::erase_if(settings.added_tokens, [&](const auto& token) {
    return std::find(reserved.begin(), reserved.end(), token.second.content) != reserved.end();
  });
  const bool says = files.tokenizer_config && files.tokenizer_config->has("clean_up_tokenization_spaces");
  if (!says) settings.clean_up_spaces = true;
  return settings;
}

}  // namespace

std::unique_ptr<Tokenizer> PLBartTokenizer::load(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "sentencepiece.bpe.model";
  return std::make_unique<PLBartTokenizer>(
      Files{.model = read_text_file(path, kMaxSentencePieceBytes), .settings = TokenizerFiles::read(folder)},
      path.string());
}

PLBartTokenizer::PLBartTokenizer(const Files& files, const std::string& name)
    : SlowTokenizer(plbart_settings(files.settings), plbart_vocabulary(files, name), name),
      model_(files.model, name),
      languages_(plbart_languages(files.settings)),
      default_language_(is_base(files.settings) ? "" : "en_XX") {
  named_id("eos_token");
  named_id("unk_token");
}

std::optional<std::int32_t> PLBartTokenizer::language_token(std::string_view language) const {
  const auto found = std::find_if(languages_.begin(), languages_.end(), [&](const std::string& known) {
    return known == language || language_codes::fairseq_piece(known) == language;
  });
  return found != languages_.end() ? vocabulary().id(language_codes::fairseq_piece(*found)) : std::nullopt;
}

// The mask of models that have none is unknown.
std::optional<std::int32_t> PLBartTokenizer::find_id(std::string_view piece, TextSide /*side*/) const {
  if (const auto id = vocabulary().id(piece)) return id;
  return piece == "<mask>" ? std::nullopt : added_tokens().id(piece);
}

std::string PLBartTokenizer::join(const std::vector<std::string>& pieces) const {
  constexpr std::string_view kSpace = "▁";
  std::string text;
  for (std::string_view piece : pieces) {
    for (std::size_t found; (found = piece.find(kSpace)) != piece.npos; piece.remove_prefix(found + kSpace.size())) {
      text.append(piece.substr(0, found)).push_back(' ');
    }
    text += piece;
  }
  return std::string(strip_right(strip_left(text)));
}

Affixes PLBartTokenizer::affixes(const EncodeOptions& options, TextSide side) const {
  const std::string language = language_of(options, side, default_language_);
  Affixes affixes{{}, {named_id("eos_token")}};
  if (language.empty()) return affixes;
  const auto token = language_token(language);
  if (!token) fail_language(language);
  affixes.after.push_back(*token);
  return affixes;
}

}  // namespace encdec
