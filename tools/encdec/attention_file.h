#pragma once

#include <encdec/models/model.h>

#include <string>

#include "attention/labelled_attention.h"
#include "encdec/attention_choices.h"
#include "encdec/output_file.h"

namespace encdec::cli {

// The file of `generate --attention`, with the attention of the results. The ending of its name chooses the format:
//   .json, .jsonl  an object per line: {"hypotheses": [{"alignment": "0-0 1-2", ...}]}; see also json_members()
//   any other      a line with the hard alignment of the best result, without its end token; see hard_alignment()
// A result without tokens has no hypothesis in JSON, and an empty line in other files.
// Order of calls: write* commit
class AttentionFile {
 public:
  // Opens the file. REQUIRES: `model` outlives this object.
  AttentionFile(const std::string& path, const TypedAttention& typed, const Model& model);

  // Returns the attention to request from generate().
  const AttentionSelection& selection() const { return selection_; }

  // Writes the result of the next input.
  void write(const GenerateResult& result);
  void commit() { output_.commit(); }

 private:
  void write_json(const GenerateResult& result);

  AttentionFormat format_;
  AttentionSelection selection_;
  OutputFile output_;
  const Model& model_;
};

}  // namespace encdec::cli
