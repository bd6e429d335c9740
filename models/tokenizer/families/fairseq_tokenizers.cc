#include <algorithm>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/tokenizer/families/language_codes.h"
#include "encdec/models/tokenizer/families/slow_families.h"
#include "encdec/models/tokenizer/families/slow_tokenizer.h"
#include "encdec/models/tokenizer/pipeline/piece_decoder.h"

namespace encdec {
namespace {

using language_codes::fairseq_piece;

// The base class of tokenizers with a sentencepiece model and with language tokens such as "__en__".
class FairseqTokenizer : public SlowTokenizer {
 public:
  std::vector<std::string> languages() const override { return languages_; }
  std::optional<std::int32_t> language_token(std::string_view language) const override {
    const bool known = std::find(languages_.begin(), languages_.end(), language) != languages_.end();
    return known ? vocabulary().id(fairseq_piece(language)) : std::nullopt;
  }

 protected:
  FairseqTokenizer(TokenizerSettings settings, Vocabulary vocabulary, SentencePieceModel model,
                   std::vector<std::string> languages, const std::string& name)
      : SlowTokenizer(std::move(settings), std::move(vocabulary), name),
        model_(std::move(model)),
        languages_(std::move(languages)) {
    named_id("eos_token");  // throws if the token is missing
  }

  void cut(std::string_view text, TextSide /*side*/, const PieceSink& take) const override {
    model_.encode(text, take);
  }

  const SentencePieceModel& model() const { return model_; }
  std::int32_t required_language_token(const std::string& language) const {
    if (const auto token = language_token(language)) return *token;
    language_codes::refuse_unknown(language, languages_, name());
  }

 private:
  SentencePieceModel model_;
  std::vector<std::string> languages_;
};

// Returns whether language_codes is `first`, the default. Throws TokenizerError if it is neither of the two.
bool has_first_codes(const TokenizerFiles& files, std::string_view first, std::string_view second) {
  const std::string codes = files.tokenizer_config.string("language_codes").value_or(std::string(first));
  if (codes == first || codes == second) return codes == first;
  refuse<TokenizerError>(files.tokenizer_config.file(), "language_codes is '{}', expected '{}' or '{}'",
                         printable(codes), first, second);
}

std::vector<std::string> m2m100_languages(const TokenizerFiles& files) {
  return has_first_codes(files, "m2m100", "wmt21") ? language_codes::m2m_100() : language_codes::wmt21();
}

// Appends the languages to the vocabulary.
Vocabulary with_languages(Vocabulary vocabulary, const std::vector<std::string>& languages, const std::string& name) {
  auto id = static_cast<std::int32_t>(vocabulary.size());
  for (const std::string& language : languages) vocabulary.add(fairseq_piece(language), id++, name);
  return vocabulary;
}

TokenizerSettings m2m100_settings(const TokenizerFiles& files) {
  return TokenizerSettings::merge(files, {{"bos_token", "<s>"},
                                          {"eos_token", "</s>"},
                                          {"sep_token", "</s>"},
                                          {"pad_token", "<pad>"},
                                          {"unk_token", "<unk>"}});
}

class M2M100Tokenizer final : public FairseqTokenizer {
 public:
  M2M100Tokenizer(SentencePieceModel model, Vocabulary pieces, const TokenizerFiles& files, const std::string& name)
      : FairseqTokenizer{m2m100_settings(files), with_languages(std::move(pieces), m2m100_languages(files), name),
                         std::move(model), m2m100_languages(files), name} {
    constexpr int kMaxFillers = 10'000;  // a larger number is assumed to be damage
    fillers_ = files.tokenizer_config.integer("num_madeup_words", {0, kMaxFillers}).value_or(8);
    require_unknown();
  }

  std::string kind() const override { return "sentencepiece with vocab.json"; }

 protected:
  std::string join(const std::vector<std::string>& pieces) const override {
    return std::string(strip(join_around_tokens(pieces, model(), "")));
  }

  Affixes affixes(const EncodeOptions& options, TextSide side) const override {
    return {{required_language_token(language_of(options, side, "en"))}, {named_id("eos_token")}};
  }

  // Returns the unknown token for filler ids: the `fillers_` ids after the vocabulary, for which the model has
  // embeddings but the vocabulary has no subwords.
  std::optional<std::string_view> missing_piece(std::int32_t id, TextSide /*side*/) const override {
    const std::int64_t filler = id - static_cast<std::int64_t>(vocabulary().size());
    if (filler < 0 || filler >= fillers_) return std::nullopt;
    return settings().named_tokens.at("unk_token");
  }

 private:
  std::int64_t fillers_;
};

// Returns whether a PLBART model has the languages of "base". The other choice, "multi", has more languages.
bool is_base(const TokenizerFiles& files) {
  return has_first_codes(files, "base", "multi");
}

std::vector<std::string> plbart_languages(const TokenizerFiles& files) {
  if (is_base(files)) return {"java", "python", "en_XX"};
  return {"java", "python", "en_XX", "javascript", "php", "ruby", "go"};
}

// Returns the vocabulary: fairseq's four tokens, sentencepiece's pieces, the languages, and for "base" the mask.
Vocabulary plbart_vocabulary(std::string_view model, const TokenizerFiles& files, const std::string& name) {
  constexpr std::int32_t kFairseqOffset = 1;
  const SentencePieceProto proto = SentencePieceProto::parse(model, name);
  Vocabulary vocabulary;
  std::int32_t id = 0;
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) vocabulary.add(token, id++, name);
  const auto add = [&](const std::string& piece, std::int32_t piece_id) {
    if (!vocabulary.id(piece) && !vocabulary.piece(piece_id)) vocabulary.add(piece, piece_id, name);
  };
  // A piece's id is its sentencepiece id plus 1. sentencepiece's first three pieces are among the four tokens above.
  id = kFairseqOffset;
  for (const auto& piece : proto.pieces) add(piece.text, id++);
  for (const std::string& language : plbart_languages(files)) vocabulary.add(fairseq_piece(language), id++, name);
  if (is_base(files)) add("<mask>", id);
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
    reserved.push_back(fairseq_piece(language));
    settings.special_tokens.push_back(reserved.back());
  }
  // transformers ignores the files' entries for these tokens.
  std::erase_if(settings.added_tokens, [&](const auto& token) {
    return std::find(reserved.begin(), reserved.end(), token.second.content) != reserved.end();
  });
  if (!files.tokenizer_config.has("clean_up_tokenization_spaces")) settings.clean_up_spaces = true;
  return settings;
}

class PLBartTokenizer final : public FairseqTokenizer {
 public:
  PLBartTokenizer(std::string_view model, const TokenizerFiles& files, const std::string& name)
      : FairseqTokenizer{plbart_settings(files),
                         plbart_vocabulary(model, files, name),
                         {model, name},
                         plbart_languages(files),
                         name},
        default_language_(is_base(files) ? "" : "en_XX") {
    named_id("unk_token");
  }

  std::string kind() const override { return "sentencepiece"; }
  std::optional<std::int32_t> language_token(std::string_view language) const override {
    if (language.size() > 4 && language.starts_with("__") && language.ends_with("__")) {
      language = language.substr(2, language.size() - 4);
    }
    return FairseqTokenizer::language_token(language);
  }

 protected:
  // Finds "<mask>" only in the vocabulary. A "<mask>" that is only an added token becomes the unknown token.
  std::optional<std::int32_t> find_id(std::string_view piece, TextSide /*side*/) const override {
    if (const auto id = vocabulary().id(piece)) return id;
    return piece == "<mask>" ? std::nullopt : added_tokens().id(piece);
  }

  std::string join(const std::vector<std::string>& pieces) const override {
    std::string text;
    for (const std::string& piece : pieces) text += replace_all(piece, "▁", " ");
    return std::string(strip(text));
  }

  Affixes affixes(const EncodeOptions& options, TextSide side) const override {
    Affixes affixes{{}, {named_id("eos_token")}};
    const std::string language = language_of(options, side, default_language_);
    if (!language.empty()) affixes.after.push_back(required_language_token(language));
    return affixes;
  }

 private:
  std::string default_language_;  // language of sources; empty: no default
};

}  // namespace

std::unique_ptr<Tokenizer> m2m100_tokenizer(SentencePieceModel model, Vocabulary vocabulary,
                                            const TokenizerFiles& files, const std::string& name) {
  return std::make_unique<M2M100Tokenizer>(std::move(model), std::move(vocabulary), files, name);
}

std::unique_ptr<Tokenizer> plbart_tokenizer(std::string_view model, const TokenizerFiles& files,
                                            const std::string& name) {
  return std::make_unique<PLBartTokenizer>(model, files, name);
}

}  // namespace encdec
