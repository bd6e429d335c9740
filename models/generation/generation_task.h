#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "encdec/models/generation/decode_feed.h"

namespace encdec {

// Turns the inputs of one generate() call into jobs, and hypotheses into results. Thread-safe.
class GenerationTask {
 public:
  // Throws ConfigError for options that are out of range or that the model does not support.
  // REQUIRES: the objects that `parts` refers to outlive this object.
  GenerationTask(const ModelParts& parts, const GenerateOptions& options);

  // Returns the call's options, completed with the checkpoint's settings.
  const GenerateOptions& settings() const { return rules_->settings; }
  const SearchRules& rules() const { return *rules_; }

  // Makes a job without a client. For an empty source, the job's prompt has no target; the caller
  // must then use empty_result() instead of decoding the job. Throws as Prompter::prompt().
  DecodeJob job(const GenerateInput& input, std::size_t index) const;
  static GenerateResult empty_result() { return {.hypotheses = {Hypothesis{}}}; }
  // Returns a job's result, without attention maps. `hypotheses` come from the job's search and
  // begin after the prompt. Adds the user's prefix, the finish reason and the text to each hypothesis.
  GenerateResult result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) const;
  void add_attention(GenerateResult& result) const;

 private:
  FinishReason reason_for(const DecodeJob& job, const TokenIds& generated) const;

  ModelParts parts_;
  std::shared_ptr<const SearchRules> rules_;
  Prompter prompter_;
};

}  // namespace encdec
