#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"

// The families whose tokenizers transformers 5 still has in Python (see SlowTokenizer), from what their files hold. All
// throw TokenizerError, beginning with `name`, if a token that they need is missing or the parts do not fit together.
namespace encdec {

// Every byte of UTF-8 is a piece, with the id byte + 3; <pad> </s> <unk> come before, sentinels after.
std::unique_ptr<Tokenizer> byt5_tokenizer(const TokenizerFiles& files, const std::string& name);

// Byte-pair encoding of lower-case words, in which "@@" ends every piece but a word's last, as subword-nmt writes it;
// `merges` is the content of merges.txt. Nothing is put around a text.
std::unique_ptr<Tokenizer> blenderbot_small_tokenizer(Vocabulary vocabulary, std::string_view merges,
                                                      const TokenizerFiles& files, const std::string& name);

// LANGUAGE X </s>. A sentencepiece model cuts texts, vocab.json has the ids of pieces, and the languages follow as
// __en__ and so on. As in transformers 5, these are special tokens only if the files list them as such.
std::unique_ptr<Tokenizer> m2m100_tokenizer(SentencePieceModel model, Vocabulary vocabulary,
                                            const TokenizerFiles& files, const std::string& name);

// X </s> LANGUAGE, or X </s> where no language is given. A sentencepiece model, whose file holds `model`, with
// fairseq's ids; programming languages are written "java" or "__java__".
std::unique_ptr<Tokenizer> plbart_tokenizer(std::string_view model, const TokenizerFiles& files,
                                            const std::string& name);

// The tokenizer of OPUS-MT checkpoints, equal to transformers 5's MarianTokenizer: text is cut into pieces by a
// sentencepiece model (one for each side), pieces become ids by vocab.json, and the end token comes last. A language
// code such as >>fra<< at the start is a piece of its own; a target language is put in front of the source like that,
// unless the text begins with a code of its own. Pieces that vocab.json does not have become <unk>; an id that it lacks
// stands for the sentencepiece model's piece of that number.
struct MarianParts {
  SentencePieceModel source_model;
  SentencePieceModel target_model;
  Vocabulary vocabulary;
  std::optional<Vocabulary> target_vocabulary;  // if the sides have separate ones
  TokenizerSettings settings;
};
std::unique_ptr<Tokenizer> marian_tokenizer(MarianParts parts, const std::string& name);
// The named tokens of checkpoints whose files do not say otherwise.
std::map<std::string, std::string> marian_tokens();

}  // namespace encdec
