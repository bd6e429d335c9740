#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// What a folder gives a family whose tokenizer is a pipeline. The vocabulary comes from tokenizer.json or from the
// family's own files: transformers 5 takes no more from either, and puts the other parts around it in code.
struct PipelineSource {
  std::string name;  // of the file with the vocabulary, for messages
  // One of them, filled as the model wants it.
  std::vector<ScoredPiece> pieces = {};
  Vocabulary vocabulary = {};
  Merges merges = {};

  std::optional<NormalizationTable> normalization_table = {};  // of sentencepiece
  std::vector<AddedToken> sentencepiece_tokens = {};           // its control and user-defined pieces
  bool is_tokenizer_json = false;
  std::optional<Affixes> affixes = {};  // of tokenizer.json's post-processor

  JsonObject config = TokenizerFiles::none();  // tokenizer_config.json
  TokenizerSettings settings = {};

  // The named token, or what to take if there is none.
  std::string token(std::string_view key, std::string_view otherwise = {}) const;

  // More special tokens of the family, behind those of the settings; what is there already stays as it is.
  void add_special(const std::vector<AddedToken>& tokens);
  // How a named token is looked for, unless the files describe it.
  void describe(std::string_view key, AddedToken token);
};

// A file of a family: its name for messages, and what it holds.
struct NamedText {
  std::string name;
  std::string text;
};

// How the files that families have become a source's vocabulary. Throws TokenizerError, naming the file, if one is
// damaged.
namespace native_files {

inline constexpr std::size_t kMaxBytes = 32u << 20;  // pieces or merges of large vocabularies: some 6 MB

// A sentencepiece model: as pieces, or (for BPE) as a vocabulary, whose merges depend on the family's order of ids.
void read_pieces(const std::vector<NamedText>& files, PipelineSource& source);
void read_piece_vocabulary(const std::vector<NamedText>& files, PipelineSource& source);
// vocab.json and merges.txt.
void read_byte_pairs(const std::vector<NamedText>& files, PipelineSource& source);
// vocab.txt: a piece a line.
void read_lines(const std::vector<NamedText>& files, PipelineSource& source);

Vocabulary parse_vocabulary_lines(std::string_view text, const std::string& name);
Merges parse_merges(std::string_view text, const std::string& name);

// Every way in which a piece of the vocabulary is made of two others, those of pieces with small ids first.
Merges merges_of(const Vocabulary& vocabulary);

}  // namespace native_files
}  // namespace encdec
