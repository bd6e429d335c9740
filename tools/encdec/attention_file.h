#pragma once

#include <encdec/models/model.h>

#include <optional>
#include <string>

#include "attention/numbers.h"
#include "encdec/attention_choices.h"
#include "encdec/output_file.h"
#include "attention/page.h"

namespace encdec::cli {

// The file of `generate --attention`: for each input, what its results looked at. By the end of its name:
//   a page, of the best results; the last layer's mean where a browser could not hold all heads
//   JSON, an object a line: {"hypotheses": [{"alignment": "0-0 1-2", "queries": ..., see json_members()}]}
//   else a line of hard alignments of the best result, without its end token; see hard_alignment()
// An empty source has an empty line, and no hypotheses.
class AttentionFile {
 public:
  // Keeps references. Opens the file at once.
  AttentionFile(const std::string& path, const TypedAttention& typed, const Model& model);

  // What to ask of generate().
  const AttentionSelection& selection() const { return selection_; }

  // Results in the order of the inputs. `source` is the input's line.
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
