#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_source.h"
#include "encdec/models/tokenizer/families/plain_tokenizer.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// Builds the tokenizer of Whisper, a byte-level BPE. Frame: START [LANGUAGE] [TASK] NO_TIMESTAMPS X END. A language is
// named by its code ("fr") or its English name. The target language of EncodeOptions counts, else the source language,
// else that of tokenizer_config.json. Decoding also leaves out timestamps.
PipelineParts make_whisper(PipelineSource& source);

// The vocabulary of Whisper in a format without tokenizer.json.
struct WhisperVocabulary {
  std::vector<std::string> texts = {};           // bytes of each piece; the index is the id
  std::vector<std::string> special_tokens = {};  // names; their ids follow those of the texts
};
// Creates Whisper's tokenizer from a vocabulary. The id of a text is also its rank as a merge. Throws TokenizerError,
// beginning with `name`, if a byte has no text, or a text or name occurs twice.
std::unique_ptr<Tokenizer> whisper_tokenizer(const WhisperVocabulary& vocabulary, const std::string& name);

// Converts a vocabulary of CTranslate2: texts as byte-level vocabularies write them, then, from "<|endoftext|>" on,
// names of special tokens. Returns nullopt if it is not a vocabulary of Whisper.
std::optional<WhisperVocabulary> whisper_vocabulary(const PieceList& pieces);

// Loads the tokenizer of a folder of CTranslate2 from its vocabulary.json or vocabulary.txt. Returns null if there is
// no vocabulary of Whisper.
std::unique_ptr<Tokenizer> load_whisper_tokenizer(const std::filesystem::path& folder);

}  // namespace encdec
