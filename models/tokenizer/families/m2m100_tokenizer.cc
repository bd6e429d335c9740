#include "encdec/models/tokenizer/families/m2m100_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/language_codes.h"

namespace encdec {
namespace {

constexpr int kMostFillers = 10'000;

std::vector<std::string> m2m100_languages(const TokenizerFiles& files) {
  const auto codes = files.tokenizer_config ? files.tokenizer_config->string("language_codes") : std::nullopt;
  if (!codes || *codes == "m2m100") return language_codes::m2m_100();
  if (*codes == "wmt21") return language_codes::wmt21();
  throw TokenizerError(fmt::format("{}: language_codes is '{}', expected 'm2m100' or 'wmt21'",
                                   files.tokenizer_config->file(), printable(*codes)));
}

// The languages' ids follow those of the pieces.
Vocabulary with_languages(Vocabulary vocabulary, const std::vector<std::string>& languages, const std::string& name) {
  auto id = static_cast<std::int32_t>(vocabulary.size());
  for (const std::string& language : languages) vocabulary.add(language_codes::fairseq_piece(language), id++, name);
  return vocabulary;
}

TokenizerSettings m2m100_settings(const TokenizerFiles& files) {
  return TokenizerSettings::merge(files, {{"bos_token", "<s>"},
                                          {"eos_token", "</s>"},
                                          {"sep_token", "</s>"},
                                          {"pad_token", "<pad>"},
                                          {"unk_token", "<unk>"}});
}

}  // namespace

std::unique_ptr<Tokenizer> M2M100Tokenizer::load(const std::filesystem::path& folder) {
  return std::make_unique<M2M100Tokenizer>(Files{.model = SentencePieceModel::read(folder / "sentencepiece.bpe.model"),
                                                 .vocabulary = Vocabulary::read(folder / "vocab.json"),
                                                 .settings = TokenizerFiles::read(folder)},
                                           folder.string());
}

M2M100Tokenizer::M2M100Tokenizer(Files files, std::string name)
    : SlowTokenizer(m2m100_settings(files.settings),
                    with_languages(std::move(files.vocabulary), m2m100_languages(files.settings), name), name),
      model_(std::move(files.model)),
      languages_(m2m100_languages(files.settings)),
      first_filler_(static_cast<std::int32_t>(vocabulary().size())) {
  const auto& config = files.settings.tokenizer_config;
  fillers_ = static_cast<std::int32_t>(
      (config ? config->integer("num_madeup_words", {0, kMostFillers}) : std::nullopt).value_or(8));
  named_id("eos_token");
  require_unknown();
}

std::optional<std::int32_t> M2M100Tokenizer::language_token(std::string_view language) const {
  const bool known = std::find(languages_.begin(), languages_.end(), language) != languages_.end();
  return known ? vocabulary().id(language_codes::fairseq_piece(language)) : std::nullopt;
}

std::string M2M100Tokenizer::join(const std::vector<std::string>& pieces) const {
  const std::string text = join_around_tokens(pieces, model_, "");
  return std::string(strip_right(strip_left(text)));
}

Affixes M2M100Tokenizer::affixes(const EncodeOptions& options, TextSide side) const {
  const std::string language = language_of(options, side, "en");
  const auto token = language_token(language);
  if (!token) fail_language(language);
  return {{*token}, {named_id("eos_token")}};
}

const std::string* M2M100Tokenizer::missing_piece(std::int32_t id, TextSide /*side*/) const {
  const bool is_filler = id >= first_filler_ && id - first_filler_ < fillers_;
  return is_filler ? &settings().named_tokens.at("unk_token") : nullptr;
}

}  // namespace encdec
