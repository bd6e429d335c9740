#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "encdec/models/generation/decode_feed.h"

namespace encdec {

// The settings of one generate() call. Makes jobs from its inputs, and results from the hypotheses that searches find.
// Thread-safe.
class GenerationTask {
 public:
  // Throws ConfigError for options that are out of range or not supported by the model. REQUIRES: the objects that
  // `parts` refers to outlive this one.
  GenerationTask(const ModelParts& parts, const GenerateOptions& options);

  // Returns the call's options, completed with the checkpoint's settings.
  const GenerateOptions& settings() const { return rules_->settings; }
  const SearchRules& rules() const { return *rules_; }

  // Makes a job without a client. If the source is empty, the job's prompt has no target, and the caller must use
  // empty_result() instead of decoding the job. Throws as Prompter::prompt().
  DecodeJob job(const GenerateInput& input, std::size_t index) const;
  static GenerateResult empty_result() { return {.hypotheses = {Hypothesis{}}}; }
  // Returns the result of a job. Adds the user's prefix, finish reason and text to the hypotheses of its search, which
  // begin after the prompt. Attention maps are left to add_attention().
  GenerateResult result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) const;
  // Computes the attention maps if GenerateOptions::attention is set.
  void add_attention(GenerateResult& result) const;

 private:
  FinishReason reason_for(const DecodeJob& job, const TokenIds& generated) const;

  ModelParts parts_;
  std::shared_ptr<const SearchRules> rules_;
  Prompter prompter_;
};

}  // namespace encdec
