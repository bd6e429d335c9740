#pragma once

#include <encdec/models/model.h>

#include <optional>
#include <string>

#include "attention/numbers.h"
#include "attention/page.h"
#include "encdec/attention_choices.h"
#include "encdec/output_file.h"

namespace encdec::cli {

// The file of `generate --attention`, with the attention of the results. The ending of its name chooses the format:
//   .html          a page with the best result of each input. If a browser could not hold all weights of a result, the
//                  page has the mean of the last layer's heads.
//   .json, .jsonl  an object per line: {"hypotheses": [{"alignment": "0-0 1-2", ...}]}; see also json_members()
//   any other      a line with the hard alignment of the best result, without its end token; see hard_alignment()
// A result without tokens is left out of a page, has no hypothesis in JSON, and has an empty line in other files.
// Order of calls: write* commit
class AttentionFile {
 public:
  // Opens the file. REQUIRES: `model` outlives this object.
  AttentionFile(const std::string& path, const TypedAttention& typed, const Model& model);

  // Returns the attention to request from generate().
  const AttentionSelection& selection() const { return selection_; }

  // Writes the result of the next input, whose line is `source`.
  void write(const std::string& source, const GenerateResult& result);
  void commit();

 private:
  void write_page(const std::string& source, const Hypothesis& best);
  void write_json(const GenerateResult& result);

  AttentionFormat format_;
  AttentionSelection selection_;
  OutputFile output_;
  std::optional<AttentionPage> page_;
  const Model& model_;
};

}  // namespace encdec::cli
