#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/families/pipeline_source.h"
#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

namespace encdec {

// A tokenizer class of transformers 5 that is a pipeline around a vocabulary.
struct PipelineFamily {
  std::string_view tokenizer_class;
  // Files with the vocabulary, if there is no tokenizer.json. A folder must have all of them or none.
  std::vector<const char*> files;
  // Reads the content of `files` into `source`.
  void (*read)(const std::vector<NamedText>& files, PipelineSource& source);
  std::string_view model;                           // model.type in tokenizer.json
  std::map<std::string, std::string> named_tokens;  // defaults
  // Builds the pipeline.
  PipelineParts (*make)(PipelineSource& source);
};

// Returns null if the class is not a pipeline family.
const PipelineFamily* find_pipeline_family(std::string_view tokenizer_class);

}  // namespace encdec
