#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/base/tokenizer_settings.h"
#include "encdec/models/tokenizer/base/vocabulary.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

namespace encdec {

// The data from which a PipelineFamily builds its tokenizer. The vocabulary comes from tokenizer.json or from the
// family's own files. As in transformers 5, the family writes all other parts of the pipeline.
struct PipelineSource {
  std::string name;  // the file with the vocabulary, for messages
  // tokenizer.json, or only the vocabulary: a unigram model has `pieces`, all others `vocabulary`, and BPE also
  // `merges`.
  TokenizerJsonFile file = {};
  std::vector<AddedToken> sentencepiece_tokens = {};  // control and user-defined pieces of the model

  JsonObject config = TokenizerFiles::none();  // tokenizer_config.json
  TokenizerSettings settings = {};

  bool is_tokenizer_json() const { return file.rest.has_value(); }
  // Returns the token with the name `key` in the settings, or `otherwise` if there is none.
  std::string token(std::string_view key, std::string_view otherwise = {}) const;

  // Adds special tokens after those of the settings. Tokens that the settings already have stay unchanged.
  void add_special(const std::vector<AddedToken>& tokens);
  // Sets the options of the token with the name `key`, unless the files describe this token.
  void describe(std::string_view key, AddedToken token);
};

// The content of a file.
struct NamedText {
  std::string name;  // for messages
  std::string text;
};

// Readers of a family's own files into a PipelineSource. All throw TokenizerError, naming the file, if a file is
// damaged.
namespace native_files {

inline constexpr std::size_t kMaxBytes = 32u << 20;  // pieces or merges of a large vocabulary have about 6 MB

// Read a sentencepiece model, as `pieces` or, for BPE, as `vocabulary`. The latter sets no merges: they depend on the
// family's order of ids.
void read_pieces(const std::vector<NamedText>& files, PipelineSource& source);
void read_piece_vocabulary(const std::vector<NamedText>& files, PipelineSource& source);
// Reads vocab.json and merges.txt.
void read_byte_pairs(const std::vector<NamedText>& files, PipelineSource& source);
// Reads vocab.txt, with one piece per line.
void read_lines(const std::vector<NamedText>& files, PipelineSource& source);

Vocabulary parse_vocabulary_lines(std::string_view text, const std::string& name);
Merges parse_merges(std::string_view text, const std::string& name);

// Returns all pairs of pieces whose concatenation is also a piece, ordered by the id of the concatenation.
Merges merges_of(const Vocabulary& vocabulary);

}  // namespace native_files
}  // namespace encdec
