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

// The data from which a PipelineFamily builds a tokenizer. The vocabulary comes from tokenizer.json or from the
// family's own files. As in transformers 5, the family defines the rest of the pipeline.
struct PipelineData {
  std::string name;  // the vocabulary's file, for messages
  // tokenizer.json, or only the vocabulary: `pieces` (unigram) or `vocabulary` (others), and `merges` (BPE).
  TokenizerJsonFile file = {};
  std::vector<AddedToken> sentencepiece_tokens = {};  // control and user-defined pieces of the model

  JsonObject config = TokenizerFiles::none();  // tokenizer_config.json
  TokenizerSettings settings = {};

  bool is_tokenizer_json() const { return file.rest.has_value(); }
  // Returns the named token `key` of the settings, or `otherwise` if the settings lack the token.
  std::string token(std::string_view key, std::string_view otherwise = {}) const;

  // Appends special tokens to the settings. Skips tokens that the settings already have.
  void add_special(const std::vector<AddedToken>& tokens);
  // Sets the options of the named token `key`, unless the files describe it.
  void describe(std::string_view key, AddedToken token);
};

struct NamedText {   // the content of a file
  std::string name;  // for messages
  std::string text;
};

// Readers of a family's own files. They throw TokenizerError, naming the file, if a file is damaged.
namespace native_files {

inline constexpr std::size_t kMaxBytes = 32u << 20;  // files of a large vocabulary have about 6 MB

// Read a sentencepiece model into `pieces` or, for BPE, `vocabulary`. The family sets the merges, using its own ids.
void read_pieces(const std::vector<NamedText>& files, PipelineData& data);
void read_piece_vocabulary(const std::vector<NamedText>& files, PipelineData& data);
void read_byte_pairs(const std::vector<NamedText>& files, PipelineData& data);  // vocab.json, merges.txt
// Reads vocab.txt, with one subword per line.
void read_lines(const std::vector<NamedText>& files, PipelineData& data);

Vocabulary parse_vocabulary_lines(std::string_view text, const std::string& name);
Merges parse_merges(std::string_view text, const std::string& name);

// Returns all pairs of subwords whose concatenation is a subword, in the order of the concatenations' ids.
Merges merges_of(const Vocabulary& vocabulary);

}  // namespace native_files
}  // namespace encdec
