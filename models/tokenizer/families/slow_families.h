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

// The families whose tokenizers are written in Python in transformers 5 (see SlowTokenizer). The functions take the
// content of the files. They throw TokenizerError, beginning with `name`, if a required token is missing or the parts
// do not fit together. "Frame" is a text X with the special tokens around it.
namespace encdec {

// Creates ByT5's tokenizer. Ids: <pad> 0, </s> 1, <unk> 2, each byte of UTF-8 its value + 3, then the sentinels.
std::unique_ptr<Tokenizer> byt5_tokenizer(const TokenizerFiles& files, const std::string& name);

// Creates BlenderbotSmall's byte-pair encoding of lower-case words in the format of subword-nmt: every subword ends
// with "@@", except the last of a word. `merges` is the content of merges.txt. No special tokens are added.
std::unique_ptr<Tokenizer> blenderbot_small_tokenizer(Vocabulary vocabulary, std::string_view merges,
                                                      const TokenizerFiles& files, const std::string& name);

// Creates the tokenizer of M2M-100. Frame: LANGUAGE X </s>. `model` splits a text into subwords and `vocabulary` maps
// them to ids. The ids of the languages ("__en__") follow the vocabulary. As in transformers 5, languages are special
// tokens only if the files list them as special.
std::unique_ptr<Tokenizer> m2m100_tokenizer(SentencePieceModel model, Vocabulary vocabulary,
                                            const TokenizerFiles& files, const std::string& name);

// Creates the tokenizer of PLBART. Frame: X </s> LANGUAGE, or X </s> without a language. `model` is the content of the
// sentencepiece file; the ids are fairseq's. Programming languages are spelled "java" or "__java__".
std::unique_ptr<Tokenizer> plbart_tokenizer(std::string_view model, const TokenizerFiles& files,
                                            const std::string& name);

struct MarianParts {
  SentencePieceModel source_model;
  SentencePieceModel target_model;
  Vocabulary vocabulary = {};
  std::optional<Vocabulary> target_vocabulary = {};  // absent if both sides share `vocabulary`
  TokenizerSettings settings = {};
  bool allows_language_codes = true;  // whether a text may begin with a language code
};
// Creates the tokenizer of OPUS-MT checkpoints, equal to MarianTokenizer of transformers 5. Frame: X </s>.
// - The side's sentencepiece model splits a text into pieces; the vocabulary maps them to ids.
// - A language code such as >>fra<< at the beginning of a text is a single token.
// - EncodeOptions::target_language adds a code to a source that does not begin with one.
// - A piece that the vocabulary lacks becomes <unk>.
// - An id that the vocabulary lacks is decoded as the sentencepiece model's piece with this id.
std::unique_ptr<Tokenizer> marian_tokenizer(MarianParts parts, const std::string& name);
NamedTokens marian_tokens();  // defaults of Marian checkpoints

// Loads the tokenizer of a model in Marian's own format. Its vocabularies are sentencepiece models, or maps of subwords
// to ids in YAML or JSON. Returns a marian_tokenizer(), or a plain_tokenizer() for maps without OPUS-MT's source.spm
// and target.spm. Throws TokenizerError or FileError, naming the file, if a file is missing or damaged.
std::unique_ptr<Tokenizer> load_marian_release(const std::filesystem::path& folder);

// Reads a map of subwords to ids. Throws TokenizerError, beginning with `name`, for anything else or a repeated id.
Vocabulary vocabulary_from(const nlohmann::json& map, const std::string& name);

}  // namespace encdec
