#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "encdec/models/tokenizer/base/tokenizer.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_model.h"

// The families whose tokenizers are written in Python in transformers 5 (see SlowTokenizer). Each function takes the
// content of the files. All throw TokenizerError, beginning with `name`, if a required token is missing or the parts do
// not fit together. "Frame" is the sequence of a text X and the special tokens around it.
namespace encdec {

// Creates a tokenizer in which every byte of UTF-8 is a piece with the id byte + 3. <pad>, </s> and <unk> have the ids
// 0 to 2. The sentinels come after the bytes.
std::unique_ptr<Tokenizer> byt5_tokenizer(const TokenizerFiles& files, const std::string& name);

// Creates a byte-pair encoding of lower-case words in the format of subword-nmt: every piece of a word but the last
// ends with "@@". `merges` is the content of merges.txt. Frame: X, without special tokens.
std::unique_ptr<Tokenizer> blenderbot_small_tokenizer(Vocabulary vocabulary, std::string_view merges,
                                                      const TokenizerFiles& files, const std::string& name);

// Creates the tokenizer of M2M-100. Frame: LANGUAGE X </s>. `model` cuts texts into pieces and `vocabulary` has their
// ids. The languages ("__en__") have the ids after the vocabulary. As in transformers 5, languages are special tokens
// only if the files list them as special.
std::unique_ptr<Tokenizer> m2m100_tokenizer(SentencePieceModel model, Vocabulary vocabulary,
                                            const TokenizerFiles& files, const std::string& name);

// Creates the tokenizer of PLBART. Frame: X </s> LANGUAGE, or X </s> without a language. `model` is the content of the
// sentencepiece model file; ids are fairseq's. A programming language is named "java" or "__java__".
std::unique_ptr<Tokenizer> plbart_tokenizer(std::string_view model, const TokenizerFiles& files,
                                            const std::string& name);

struct MarianParts {
  SentencePieceModel source_model;
  SentencePieceModel target_model;
  Vocabulary vocabulary = {};
  std::optional<Vocabulary> target_vocabulary = {};  // absent if both sides share `vocabulary`
  TokenizerSettings settings = {};
  bool takes_codes = true;  // a text may begin with a language code; false for models without such codes
};
// Creates the tokenizer of OPUS-MT checkpoints, equal to MarianTokenizer of transformers 5. Frame: X </s>.
// - The sentencepiece model of the side cuts text into pieces, and the vocabulary has their ids.
// - A language code such as >>fra<< at the beginning of a text is a piece of its own.
// - EncodeOptions::target_language puts a code in front of a source that does not begin with one.
// - A piece that the vocabulary lacks becomes <unk>.
// - An id that the vocabulary lacks is decoded as the sentencepiece model's piece with this id.
std::unique_ptr<Tokenizer> marian_tokenizer(MarianParts parts, const std::string& name);
// Returns the default named tokens of Marian checkpoints.
NamedTokens marian_tokens();

// Loads the tokenizer of a model in Marian's own format, from the vocabularies that MarianFiles finds. They are
// sentencepiece models, or maps of pieces to ids in YAML or JSON. The result is a marian_tokenizer(); but a
// plain_tokenizer() for maps without the source.spm and target.spm of OPUS-MT. Throws TokenizerError or FileError,
// naming the file, if a file is missing or damaged.
std::unique_ptr<Tokenizer> load_marian_release(const std::filesystem::path& folder);

// Returns the vocabulary of a map of pieces to ids. Throws TokenizerError, beginning with `name`, if `map` is not an
// object, a value is not an id, or an id occurs twice.
Vocabulary vocabulary_from(const nlohmann::json& map, const std::string& name);

}  // namespace encdec
