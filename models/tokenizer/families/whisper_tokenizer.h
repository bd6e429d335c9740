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

// Creates Whisper's tokenizer from a vocabulary of CTranslate2: pieces as byte-level vocabularies write them, then the
// names of special tokens, from "<|endoftext|>" on. The id of a piece is also its rank as a merge. Returns null if it
// is not a vocabulary of Whisper. Throws TokenizerError, beginning with `name`, if a byte has no piece, or a piece or
// name occurs twice.
std::unique_ptr<Tokenizer> whisper_tokenizer(const PieceList& pieces, const std::string& name);

// Loads the tokenizer of a folder of CTranslate2 from its vocabulary.json or vocabulary.txt. Returns null if there is
// no vocabulary of Whisper.
std::unique_ptr<Tokenizer> load_whisper_tokenizer(const std::filesystem::path& folder);

}  // namespace encdec
