#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_source.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

// What families put their pipelines together from.
namespace encdec::family_parts {

using Parts = PipelineTokenizer::Parts;

// `parts` has a model and a normalizer. Adds what tokenizer_config.json and its like say, the same for all families:
// added tokens, which are those of the settings, and how to decode.
void apply_settings(const PipelineSource& source, Parts& parts);

// The ids of tokens, when `parts` has its added tokens.
class TokenIds {
 public:
  TokenIds(const PipelineSource& source, const Parts& parts);

  std::optional<std::int32_t> find(std::string_view token) const;
  // The id of the settings' token of this name. Throws TokenizerError if there is none.
  std::int32_t named(std::string_view key) const;

 private:
  const PipelineSource& source_;
  const Parts& parts_;
  AddedVocabulary added_;
};

using Ids = std::vector<std::int32_t>;

// A model of pieces, and one of the vocabulary and its merges.
std::unique_ptr<const PieceModel> unigram(PipelineSource& source, std::int32_t unknown_id);
std::unique_ptr<const PieceModel> byte_pairs(PipelineSource& source, std::optional<std::string> unknown_token);

// sentencepiece's table, then what follows, if anything.
enum class Spaces { kept, joined };
Normalizer sentencepiece_normalizer(const PipelineSource& source, Spaces spaces);
// Words that begin with "▁", and their decoder. With Cut::words_first whitespace is lost.
enum class Cut { words_first, at_spaces };
void use_metaspace(Cut cut, pre_tokenizers::PrependScheme prepend, Parts& parts);

// Languages as tokens around texts.
struct Languages {
  std::vector<std::string> names = {};  // those that the vocabulary lacks do not count
  std::string source = {};              // unless the caller says otherwise
  std::string target = {};              // empty: the source's language
  Ids before = {};                      // the text, in front of a language there
  Ids after = {};                       // behind the text, in front of a language there
  bool language_first = true;           // else it is last
};
void use_languages(const PipelineSource& source, const Languages& languages, Parts& parts);

// For messages: the first names of a list, and how many there are.
std::string shortened(const std::vector<std::string>& names);

}  // namespace encdec::family_parts
