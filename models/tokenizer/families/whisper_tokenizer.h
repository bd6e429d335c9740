#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_source.h"
#include "encdec/models/tokenizer/families/plain_tokenizer.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// START [LANGUAGE] [TASK] NO_TIMESTAMPS X END, byte-level BPE. Languages are given by their codes ("fr") or their
// English names; the target's counts, or else the source's, or else that of tokenizer_config.json. Decoding leaves out
// times too.
PipelineParts make_whisper(PipelineSource& source);

// What a format that has no tokenizer.json says of a vocabulary of Whisper.
struct WhisperVocabulary {
  std::vector<std::string> texts = {};           // bytes by id
  std::vector<std::string> special_tokens = {};  // names by id, behind the texts
};
// The same tokenizer for these: ids of texts are the ranks of merges. Throws TokenizerError, beginning with `name`, for
// a byte that is no text, and a text or name that is there twice.
std::unique_ptr<Tokenizer> whisper_tokenizer(const WhisperVocabulary& vocabulary, const std::string& name);

// A file of tiktoken: a text in base64 and its rank a line. Throws TokenizerError, beginning with `name`, for a line
// that is something else, and ranks that are not 0, 1, 2 and so on.
std::vector<std::string> parse_tiktoken(std::string_view text, const std::string& name);
// A vocabulary of CTranslate2: texts in the spelling of byte-level vocabularies, then names from "<|endoftext|>" on.
// nullopt if it is none of Whisper.
std::optional<WhisperVocabulary> whisper_vocabulary(const PieceList& pieces);

// That of a ggml file, of a .pt file by multilingual.tiktoken or gpt2.tiktoken beside it, of a folder with such a file,
// or else by its vocabulary.json or vocabulary.txt of CTranslate2. Null if there is none of these, or none that fits.
std::unique_ptr<Tokenizer> load_whisper_tokenizer(const std::filesystem::path& folder_or_file);

}  // namespace encdec
