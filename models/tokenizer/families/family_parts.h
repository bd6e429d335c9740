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

using Parts = PipelineParts;

// A model of pieces, and one of the vocabulary and its merges.
PieceModelPtr unigram(PipelineSource& source, std::int32_t unknown_id);
PieceModelPtr byte_pairs(PipelineSource& source, std::optional<std::string> unknown_token);

// sentencepiece's table, then what follows, if anything.
enum class Spaces { kept, joined };
Normalizer sentencepiece_normalizer(const PipelineSource& source, Spaces spaces);
// Words that begin with "▁", and their decoder. With Cut::words_first whitespace is lost.
enum class Cut { words_first, at_spaces };
void use_metaspace(Cut cut, pre_tokenizers::PrependScheme prepend, Parts& parts);

// The last step of all families. `parts` has all that cuts texts. Adds what tokenizer_config.json and its like say:
// added tokens, which are those of the settings, and how to decode.
void apply_settings(const PipelineSource& source, Parts& parts);
// The same, and puts the settings' tokens of these names around texts; none for "". Throws TokenizerError if one is not
// there.
Parts framed(const PipelineSource& source, Parts parts, std::string_view before, std::string_view after);
// The same with a language around texts, and the end token behind them.
struct Languages {
  std::vector<std::string> names = {};  // those that the vocabulary lacks do not count
  std::string source = {};              // unless the settings or the caller say otherwise
  bool is_first = true;                 // else it is last
};
Parts with_languages(const PipelineSource& source, Parts parts, const Languages& languages);

}  // namespace encdec::family_parts
