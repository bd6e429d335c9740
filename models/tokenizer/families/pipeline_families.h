#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_source.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// A tokenizer of transformers 5 that is a pipeline around a vocabulary: the class's name, where the vocabulary lies,
// how it is read, and how the pipeline is put together.
struct PipelineFamily {
  std::string_view tokenizer_class;
  std::vector<const char*> files;  // the family's own: all of them, or none
  void (*read)(const std::vector<NamedText>& files, PipelineSource& source);
  std::string_view model;                           // as tokenizer.json calls it
  std::map<std::string, std::string> named_tokens;  // of checkpoints whose files do not say otherwise
  PipelineParts (*make)(PipelineSource& source);
};

// Null for a class that is none of those.
const PipelineFamily* find_pipeline_family(std::string_view tokenizer_class);

}  // namespace encdec
